"""The private collections: what Claude Code's own transcripts say, asked for each time and kept on this machine alone.

No hook, no default and no other command reaches this room: ``cv sync --with-sessions`` and ``--with-traces`` fill it,
``cv forget`` empties it, ``cv search --role`` reads it through ``reading`` and nothing else (tests/test_imports.py).
"""
