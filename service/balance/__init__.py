"""The verdict at a glance on a claim: which of the papers read stand where, and what they weigh."""
