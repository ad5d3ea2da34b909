"""The commands of `counterpoint eval`, one module each."""
