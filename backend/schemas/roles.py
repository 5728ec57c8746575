"""The roles: what skills and commands call a collection, whatever the config calls its instance."""

from __future__ import annotations

CORPUS_ROLE = "context-vigilance-corpus"
CHANGELOG_ROLE = "changelog-corpus"
ROLES = (CORPUS_ROLE, CHANGELOG_ROLE)
