"""Setting up: the environment, the ceremony of ``cv init``, the settings of Claude Code, the demo."""
