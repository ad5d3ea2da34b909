"""Measuring answers: what a Task B run says, whether its citations bear that out, and what it leaves unsaid."""
