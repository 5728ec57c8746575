"""Secrets taken out of a text before anything of it is stored.

The patterns are those of detect-secrets; ours are added only where it is blind in free text: key blocks over several lines,
assignments without quotes, headers, and token forms newer than it. Of the library nothing but patterns is used: its own scan
can ask the provider whether a secret is real, and nothing may leave the machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from backend.errors import CvError

LIBRARY = (
    "AWSKeyDetector", "ArtifactoryDetector", "AzureStorageKeyDetector", "CloudantDetector", "DiscordBotTokenDetector",
    "GitHubTokenDetector", "GitLabTokenDetector", "IbmCloudIamDetector", "IbmCosHmacDetector", "JwtTokenDetector",
    "MailchimpDetector", "NpmDetector", "OpenAIDetector", "PypiTokenDetector", "SendGridDetector", "SlackDetector",
    "SoftlayerDetector", "SquareOAuthDetector", "StripeDetector", "TelegramBotTokenDetector", "TwilioKeyDetector",
)  # fmt: skip
"""The library's detectors by pattern that are on, beside KeywordDetector and Base64HighEntropyString. Off: HexHighEntropyString
(every quoted commit id is one), IPPublicDetector (no secret), PrivateKeyDetector and BasicAuthDetector (ours, below, take the
whole key block, and no more than a line's time)."""

ENTROPY = 4.5
"""Bits a character above which base64 text counts as random: the library's own default."""

_MARGIN = 16_384
"""Characters beyond the limit that are searched too, so that the cut cannot halve a secret and so hide it."""

_PIECE, _OVERLAP = 2_000, 300
"""Longer lines are searched in pieces of so many characters: some of the patterns take quadratic time."""

_NAME = (
    r"passw(?:or)?d|passphrase|passwort|pwd|secret|token|credential|"
    r"(?:api|access|private|auth|account|client|signing|encryption|service|master|db)[_-]?key"
)
_VALUE = r"[^\s\"'`()\[\]{},;<>$]"
_MIXED = rf"(?=[^\s]*[A-Za-z])(?=[^\s]*\d)(?!{_VALUE}*[(\[]){_VALUE}{{6,}}"
"""A word of letters and digits that is no call and no index: what a secret without quotes looks like beside its name."""

_Patterns = tuple[tuple[str, re.Pattern[str]], ...]


def _compiled(*patterns: tuple[str, str]) -> _Patterns:
    return tuple((kind, re.compile(pattern)) for kind, pattern in patterns)


_BLOCKS = _compiled(
    (
        "Private Key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    ("Private Key", r"PuTTY-User-Key-File-\d(?s:.*?)(?:Private-MAC:\s*\w+|\Z)"),
)
"""Over several lines."""

_NAMED = _compiled(
    # NAME=value as in an environment file: whatever the value, unless it is a variable or a placeholder.
    (
        "Secret Keyword",
        r"(?<![\w.-])[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|TOKEN|CREDENTIALS?|KEY)(?:_[A-Z0-9]{1,10})?"
        r"=[\"']?(?![$<{])(?P<value>[^\s\"'`;()]{4,}(?!\()|(?<=[\"'])[^\"'\n]{4,})",
    ),
    (
        "Secret Keyword",
        rf"(?i)(?<![\w.-])[\w.-]{{0,40}}?(?:{_NAME})[\w-]{{0,40}}[\"'\]]{{0,2}}\s?(?::=|=>|[=:])\s{{0,4}}[\"'`]?(?P<value>{_MIXED})",
    ),
    (
        "Secret Keyword",
        r"(?i)(?<![\w.-])[\w.-]{0,40}?(?:passw(?:or)?d|passphrase|passwort)[\"']?\s?[:=]\s{0,4}"
        r"(?P<value>[^\s\"'`()\[\]{},;<>$]{4,})\s*$",
    ),
    (  # a quoted value that begins with a sign, which the library passes over
        "Secret Keyword",
        rf"(?i)(?:{_NAME})\w{{0,40}}[\"'\]]{{0,2}}\s?(?::=|=>|[=:])\s{{0,4}}\\?([\"'])(?P<value>[^\w\s\"'$<{{][^\"'\n]{{3,200}})",
    ),
    (
        "Secret Keyword",
        rf"(?i)--[\w-]{{0,30}}(?:{_NAME})[ =][\"']?(?P<value>[^\s\"'`$<-][^\s\"'`]{{3,}})",
    ),
    ("Secret Keyword", rf"(?i)\b(?:{_NAME})\s+(?:is|was|ist)\s*:?\s*[\"'`]?(?P<value>{_MIXED})"),
)
"""What is a secret by the name that stands before it."""

_FORMS = _compiled(
    ("Basic Auth Credentials", r"://[^\s{}/@:]{0,100}:(?P<value>[^\s{}/@]{1,200})@"),
    (
        "Basic Auth Credentials",
        r"\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,100}:(?P<value>[^\s\"']{3,})",
    ),
    (
        "Authorization Header",
        r"(?i)authorization[\"']?\s?[:=]\s?[\"']?(?:bearer|basic|digest|token|apikey)\s+(?P<value>[^\s\"'$<{]{6,})",
    ),
    (
        "Authorization Header",
        r"(?i)\b(?:bearer|basic)\s+(?P<value>(?=[^\s]*[\dA-Z+/=._-])[A-Za-z0-9._~+/=-]{16,})",
    ),
    ("Cookie", r"(?i)(?<![\w-])(?:set-)?cookie\s?:\s?(?P<value>[^\s=;]{1,100}=[^\r\n\"']{8,4000})"),
    (
        "Token",
        r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_.-]{20,}|"
        r"github_pat_[A-Za-z0-9_]{20,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,}|xapp-[A-Za-z0-9-]{20,}|xox[a-z]-[A-Za-z0-9-]{10,}|"
        r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{20,}|dop_v1_[a-f0-9]{40,}|shp[a-z]{2}_[a-fA-F0-9]{30,}|"
        r"dckr_pat_[A-Za-z0-9_-]{20,}|hvs\.[A-Za-z0-9_-]{20,}|lin_api_[A-Za-z0-9]{30,}|AGE-SECRET-KEY-1[A-Z0-9]{50,})",
    ),
)
"""What is a secret by its own form."""

_NAME_HINT = re.compile(r"(?i)pass|pwd|secret|token|credential|key|contrase")
"""Without any of these in it a line has nothing for the patterns by name, which are by far the slowest."""

_RANDOM = re.compile(r"(?<![\w/+.-])[A-Za-z0-9+/_-]{32,4000}={0,2}(?![\w/+-])")
_TOKEN_REST = re.compile(r"[A-Za-z0-9_\-+/=.~%]*")
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)


class Span(NamedTuple):
    """From where to where a secret stands, and what it is."""

    start: int
    end: int
    kind: str


def names_a_secret(name: str) -> bool:
    """Whether a field of this name holds a secret, whatever its value looks like."""
    return len(name) <= 100 and bool(_SECRET_NAME.search(name)) and "tokens" not in name.casefold()


class Redactor:
    """Takes secrets out of texts and counts them by kind in ``counts``. Raises ``CvError`` without its library."""

    def __init__(self) -> None:
        try:
            from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

            found: Any = get_mapping_from_secret_type_to_class()
            known = {plugin.__name__: plugin for plugin in found.values()}
            self._patterns = [
                (str(known[name].secret_type), pattern)
                for name in LIBRARY
                for pattern in known[name]().denylist
            ]
            self._keyword: Any = known["KeywordDetector"]()
            self._base64: Any = known["Base64HighEntropyString"](limit=ENTROPY)
        except (ImportError, KeyError) as error:
            raise CvError(
                f"secrets cannot be taken out: the package detect-secrets is missing or another one than expected ({error}). "
                "No transcript is read without it; 'cv doctor --fix' mends the environment"
            ) from error
        self.counts: Counter[str] = Counter()

    def clean(self, text: str, limit: int) -> str:
        """The first ``limit`` characters of ``text``, each secret replaced by ``[redacted: KIND]``; what is cut off is said."""
        text = text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be stored
        window = text[: limit + _MARGIN]
        parts, at = [], 0
        for span in _merged(self._spans(window)):
            if span.start >= limit:
                break
            parts += [window[at : span.start], f"[redacted: {span.kind}]"]
            at = span.end
            self.counts[span.kind] += 1
        parts.append(window[at:limit] if at < limit else "")
        if len(text) > max(limit, at):
            parts.append(f"\n[… {len(text) - max(limit, at)} characters more]")
        return "".join(parts)

    def _spans(self, text: str) -> Iterator[Span]:
        for kind, pattern in _BLOCKS:
            yield from (Span(found.start(), found.end(), kind) for found in pattern.finditer(text))
        start = 0
        for line in text.split("\n"):
            for first in range(0, max(1, len(line) - _OVERLAP), _PIECE - _OVERLAP):
                for span in self._in_piece(line[first : first + _PIECE]):
                    end = span.end + start + first
                    if span.kind not in (
                        "Secret Keyword",
                        "Cookie",
                    ):  # a token's pattern can end before the token
                        end = _rest_of_token(text, end)
                    yield Span(span.start + start + first, end, span.kind)
            start += len(line) + 1

    def _in_piece(self, piece: str) -> Iterator[Span]:
        named = _NAME_HINT.search(piece) is not None
        for kind, pattern in (*_NAMED, *_FORMS) if named else _FORMS:
            group = "value" if "value" in pattern.groupindex else 0
            yield from (
                Span(found.start(group), found.end(group), kind)
                for found in pattern.finditer(piece)
            )
        for kind, pattern in self._patterns:
            yield from (Span(found.start(), found.end(), kind) for found in pattern.finditer(piece))
        for found in self._base64.regex.finditer(piece):
            if self._base64.calculate_shannon_entropy(found[2]) > ENTROPY:
                yield Span(found.start(2), found.end(2), str(self._base64.secret_type))
        for found in _RANDOM.finditer(piece):
            if _mixed(found[0]) and self._base64.calculate_shannon_entropy(found[0]) > ENTROPY:
                yield Span(found.start(), found.end(), str(self._base64.secret_type))
        if named:
            yield from self._by_keyword(piece)

    def _by_keyword(self, piece: str) -> Iterator[Span]:
        """The library names only the first value of a line, so that it is asked again with those found blanked out."""
        values = set(self._keyword.analyze_string(piece))
        while values:
            before = piece
            for value in values:
                at = piece.find(value)
                while at >= 0 and value:
                    yield Span(at, at + len(value), str(self._keyword.secret_type))
                    piece = piece[:at] + "\0" * len(value) + piece[at + len(value) :]
                    at = piece.find(value, at + len(value))
            values = set(self._keyword.analyze_string(piece)) if piece != before else set()


def _rest_of_token(text: str, end: int) -> int:
    rest = _TOKEN_REST.match(text, end)
    return rest.end() if rest else end


def _mixed(text: str) -> bool:
    return (
        any(c.islower() for c in text)
        and any(c.isupper() for c in text)
        and any(c.isdigit() for c in text)
    )


def _merged(spans: Iterator[Span]) -> Iterator[Span]:
    """The spans in order, those that overlap as one, named after the first."""
    current: Span | None = None
    for span in sorted(span for span in spans if span.end > span.start):
        if current is None or span.start >= current.end:
            if current is not None:
                yield current
            current = span
        elif span.end > current.end:
            current = Span(current.start, span.end, current.kind)
    if current is not None:
        yield current
