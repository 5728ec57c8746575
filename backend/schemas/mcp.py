"""The arguments of the tools that ``cv mcp`` offers. Their answers are those of the commands."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE

Text = Annotated[str, Meta(min_length=1)]
Positive = Annotated[int, Meta(ge=1)]
NotNegative = Annotated[int, Meta(ge=0)]
Role = Literal["context-vigilance-corpus", "changelog-corpus"]
assert Role.__args__ == (CORPUS_ROLE, CHANGELOG_ROLE)  # type: ignore[attr-defined]


class FindArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``find`` takes."""

    task: Annotated[Text, Meta(description="What is about to be worked on, in plain words.")]
    n_results: Annotated[Positive, Meta(description="How many files to propose.")] = 20
    scope: Annotated[
        str | None, Meta(description="Only this repo, nested repo, or folder, by its path.")
    ] = None


class SearchArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``search`` takes."""

    question: Annotated[Text, Meta(description="One question, in plain words.")]
    n_results: Annotated[Positive, Meta(description="How many passages to give.")] = 5
    role: Annotated[Role | None, Meta(description="Only documents of this role.")] = None
    where: Annotated[
        tuple[str, ...],
        Meta(
            description="Filters, FIELD=VALUE each; fields: repo, kind, status, tag, author, owner, since, until, role. "
            "Several fields narrow, the same field twice widens.",
            examples=[["repo=clients/acme", "since=2026-01-01"]],
        ),
    ] = ()


class CatchUpArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``catch_up`` takes; what is left out stands as the config has it."""

    window: Annotated[
        str | None, Meta(description="How far back: 10d, 2w, 3m, 1y.", examples=["2w"])
    ] = None
    since: Annotated[
        str | None, Meta(description="A day instead of a window, such as 2026-05-01.")
    ] = None
    scope: Annotated[
        str | None, Meta(description="Only this repo, nested repo, or folder, by its path.")
    ] = None
    by_author: Annotated[
        str | None,
        Meta(description="Only documents with such an author; a part of the name will do."),
    ] = None
    owner: Annotated[str | None, Meta(description="Only documents of this owner.")] = None
    not_by: Annotated[
        str | None, Meta(description="Without the documents that only this author wrote.")
    ] = None
    max_files: Annotated[Positive | None, Meta(description="Show at most so many files.")] = None
    alphabetical: Annotated[
        bool, Meta(description="Repos, tags and files by name instead of newest first.")
    ] = False
    theme: Annotated[
        Positive | None, Meta(description="Only the files of the theme of this number.")
    ] = None


class StatusArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``status`` takes: nothing."""


# The arguments of chroma-mcp's read-only tools, with its names and defaults (0.2.6; what it does not know it ignores).


class ListCollections(Struct, frozen=True, kw_only=True):
    """What ``chroma_list_collections`` takes."""

    limit: NotNegative | None = None
    offset: NotNegative | None = None


class OneCollection(Struct, frozen=True, kw_only=True):
    """What ``chroma_get_collection_info`` and ``chroma_get_collection_count`` take."""

    collection_name: str


class PeekCollection(Struct, frozen=True, kw_only=True):
    """What ``chroma_peek_collection`` takes."""

    collection_name: str
    limit: int = 5


class QueryDocuments(Struct, frozen=True, kw_only=True):
    """What ``chroma_query_documents`` takes."""

    collection_name: str
    query_texts: tuple[str, ...]
    n_results: int = 5
    where: dict[str, Any] | None = None
    where_document: dict[str, Any] | None = None
    include: tuple[str, ...] = ("documents", "metadatas", "distances")


class GetDocuments(Struct, frozen=True, kw_only=True):
    """What ``chroma_get_documents`` takes."""

    collection_name: str
    ids: tuple[str, ...] | None = None
    where: dict[str, Any] | None = None
    where_document: dict[str, Any] | None = None
    include: tuple[str, ...] = ("documents", "metadatas")
    limit: int | None = None
    offset: int | None = None
