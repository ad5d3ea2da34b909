"""What several commands share: their options, and how they report errors and notes."""
