"""Every shape that crosses a boundary: config and manifest files, JSON on stdin and stdout, and what the rooms hand on.

All are frozen msgspec Structs. Paths are POSIX text relative to the senior root unless a name says ``absolute``; moments are
epoch seconds (UTC), days are ISO text (``2026-03-09``), sizes are bytes. The JSON keys are a contract: add, don't rename.
A module for each boundary; a hook imports only those it needs.
"""
