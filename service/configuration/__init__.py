"""What is read from configs: variants, profiles, and the models that profiles name."""
