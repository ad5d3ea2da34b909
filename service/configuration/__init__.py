"""What is read from configuration files: variants, profiles, and the models that profiles name."""
