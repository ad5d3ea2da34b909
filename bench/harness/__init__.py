"""What the parts of the benchmark share: settings, a service to measure, a process of its own, the table."""
