"""What an operator sets and observes: settings, the queue, the live index, metrics."""
