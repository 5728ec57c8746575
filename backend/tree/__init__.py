"""Where things apply: senior root, config, markers, the walk, repos, git dates, the machine-wide home."""
