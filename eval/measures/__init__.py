"""What all evaluations share: figures and their uncertainty, reports, and long runs that resume."""
