"""The commands of `counterpoint eval`; heavy things are imported when they run, so that --help answers at once."""
