"""The verdict at a glance on a claim: where each of the papers read belongs, and how much it weighs."""
