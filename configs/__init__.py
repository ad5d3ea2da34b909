"""One YAML file a grounding variant; in `profiles`, one a set of models. Data only."""
