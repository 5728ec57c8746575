"""Context Vigilance: the backend behind the plugin's skills, commands and hooks."""

__version__ = "0.1.0"
