"""Loop 2: the index and how it is kept fresh. ``index.sqlite`` is the truth; Chroma and the manifests are written from it."""
