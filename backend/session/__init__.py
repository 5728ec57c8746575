"""What happens inside a session of Claude Code: its three hooks, what a session remembers, and the sync left running."""
