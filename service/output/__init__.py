"""What people read: the terminal's lines, and files to take along."""
