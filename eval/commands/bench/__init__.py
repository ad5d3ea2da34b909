"""The commands of `counterpoint bench`: making a benchmark of evidence, and comparing two annotations of it."""
