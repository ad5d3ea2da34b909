"""The commands of `counterpoint bench`: make a benchmark of evidence, and compare two annotations of it."""
