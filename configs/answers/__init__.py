"""Answer variants as data: what is retrieved, who writes, how the writing is checked."""
