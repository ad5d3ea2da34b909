"""One YAML file a set of models: which model stands behind which name."""
