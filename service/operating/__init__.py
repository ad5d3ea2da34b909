"""What an operator sets and sees: settings, the queue, the live index, metrics."""
