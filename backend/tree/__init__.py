"""Where things apply: senior root, config, markers, discovery, repos, git dates, the machine-wide home."""
