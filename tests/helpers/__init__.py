"""What tests share: stand-ins for the seams, tiny models, servers on loopback."""
