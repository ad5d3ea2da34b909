"""The product: configuration, assembly, grounding, batch runs, the HTTP app and the command line."""
