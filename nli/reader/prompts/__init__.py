"""The instructions for language models that read papers, one file each."""
