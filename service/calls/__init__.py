"""What can be asked, each call once: its request, what does the work, and its response. The doors are made of these."""
