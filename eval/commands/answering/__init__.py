"""The commands of `counterpoint eval` that measure answers, one module each."""
