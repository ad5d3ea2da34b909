"""Measure answers: what a Task B run says, whether its citations support it, and what it leaves out."""
