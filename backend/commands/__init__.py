"""The commands, a file for each part of the work. They parse, call a room, and print; they decide nothing."""
