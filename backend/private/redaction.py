"""Secrets taken out of a text before anything of it is stored.

The patterns are those of detect-secrets, and ours (``patterns``) where it is blind in free text. Of the library nothing but
patterns is used: its own scan can ask the provider whether a secret is real, and nothing may leave the machine.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from backend.errors import CvError
from backend.private.patterns import BLOCKS, FORMS, NAME, NAMED, Form

LIBRARY = (
    "AWSKeyDetector", "ArtifactoryDetector", "AzureStorageKeyDetector", "DiscordBotTokenDetector", "GitHubTokenDetector",
    "GitLabTokenDetector", "JwtTokenDetector", "MailchimpDetector", "NpmDetector", "OpenAIDetector", "PypiTokenDetector",
    "SendGridDetector", "SlackDetector", "SquareOAuthDetector", "StripeDetector", "TelegramBotTokenDetector",
    "TwilioKeyDetector",
)  # fmt: skip
"""The library's detectors by pattern that are on, beside KeywordDetector and Base64HighEntropyString. Off: HexHighEntropyString
(every quoted commit id is one), IPPublicDetector (no secret), PrivateKeyDetector and BasicAuthDetector (ours take the whole key
block, and no more than a line's time). Off, too: IbmCloudIamDetector, IbmCosHmacDetector, SoftlayerDetector, CloudantDetector,
which look for blanks thrice in a row and so take a minute for 1,900 of them; what they find stands beside a name of ours."""

ENTROPY, BARE_ENTROPY = 4.5, 4.0
"""Bits a character above which base64 text counts as random: in quotes the library's own default; without quotes, where of random
words of 32 letters and digits one in three has less than that, ``_is_random`` decides as well."""

_MARGIN = 16_384
"""Characters beyond the limit that are searched too, so that the cut cannot halve a secret and so hide it."""

_PIECE, _OVERLAP = 2_000, 300
"""Longer lines are searched in pieces of so many characters: some of the patterns take quadratic time."""

_ROUNDS = 12
"""How often the library is asked again about one piece; ours, which find each value of a line, have been through it before."""

_NAME_HINT = re.compile(r"(?i)pass|pwd|secret|token|credential|key|contrase")
"""Without any of these in it a line has nothing for the library's patterns by name, which are by far the slowest."""

_RANDOM = re.compile(r"(?<![\w+-])[A-Za-z0-9+/_-]{32,4000}={0,2}(?![\w/+-])")
_ENCODED = re.compile(r"(?<![\w+/-])[A-Za-z0-9+/_-]{16,4000}={0,2}(?![\w/+-])")
_ENCODED_VALUE = re.compile(
    r"(?:^|[\s{,])[\w.\"-]{1,100}:\s{1,4}\"?([A-Za-z0-9+/]{8,4000}={0,2})\"?,?\s*$"
)
_CAPITALS = re.compile(r"[A-Z]{4,}")
_DIGITS_INSIDE = re.compile(r"(?<=[A-Za-z])\d{1,3}(?=[A-Za-z])")
_LONG_WORD = re.compile(r"\w{200,}")
_TOKEN_REST = re.compile(r"[A-Za-z0-9_\-+/=.~%]*")
_SECRET_NAME = re.compile(NAME)


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
        yield from _found(BLOCKS, text)
        start = 0
        for line in text.split("\n"):
            until = max(1, len(line) - _OVERLAP) if line and not line.isspace() else 0
            for first in range(0, until, _PIECE - _OVERLAP):
                for span in self._in_piece(line[first : first + _PIECE]):
                    end = span.end + start + first
                    if span.kind not in ("Secret Keyword", "Cookie"):
                        end = _rest_of_token(text, end)  # a token's pattern can end before it does
                    yield Span(span.start + start + first, end, span.kind)
            start += len(line) + 1

    def _in_piece(self, piece: str) -> Iterator[Span]:
        yield from _found(NAMED, piece)
        yield from _found(FORMS, piece)
        for kind, pattern in self._patterns:
            yield from (Span(found.start(), found.end(), kind) for found in pattern.finditer(piece))
        random = str(self._base64.secret_type)
        for found in self._base64.regex.finditer(piece):
            if self._base64.calculate_shannon_entropy(found[2]) > ENTROPY:
                yield Span(found.start(2), found.end(2), random)
        for found in _RANDOM.finditer(piece):
            entropy = self._base64.calculate_shannon_entropy(found[0])
            if entropy > BARE_ENTROPY and _is_random(found[0]):
                yield Span(found.start(), found.end(), random)
        for pattern, group, least in ((_ENCODED, 0, 12), (_ENCODED_VALUE, 1, 6)):
            for found in pattern.finditer(piece):
                if _is_encoded_text(found[group], least):
                    yield Span(found.start(group), found.end(group), "Encoded Text")
        if _NAME_HINT.search(piece):
            yield from self._by_keyword(piece)

    def _by_keyword(self, piece: str) -> Iterator[Span]:
        """The library names only the first value of a line, so that it is asked again with those found blanked out.

        A word that is full of names is none; the library would take quadratic time for it.
        """
        piece = _LONG_WORD.sub(_without_names, piece)
        for _ in range(_ROUNDS):
            before = piece
            for value in set(self._keyword.analyze_string(piece)):
                at = piece.find(value)
                while at >= 0 and value:
                    yield Span(at, at + len(value), str(self._keyword.secret_type))
                    piece = piece[:at] + "\0" * len(value) + piece[at + len(value) :]
                    at = piece.find(value, at + len(value))
            if piece == before:
                return


def _without_names(word: re.Match[str]) -> str:
    return "\0" * len(word[0]) if len(_NAME_HINT.findall(word[0])) > 2 else word[0]


def _found(forms: tuple[Form, ...], text: str) -> Iterator[Span]:
    folded = text.lower()
    for form in forms:
        if any(word in folded for word in form.needs):
            group = "value" if "value" in form.pattern.groupindex else 0
            for found in form.pattern.finditer(text):
                yield Span(found.start(group), found.end(group), form.kind)


def _rest_of_token(text: str, end: int) -> int:
    rest = _TOKEN_REST.match(text, end)
    return rest.end() if rest else end


def _is_random(text: str) -> bool:
    """Whether a word has small and capital letters and digits, and as many changes between them as chance makes.

    In words and names, however long, nearly every two neighbours are both small, both digits, a capital that begins a word, or of
    a word in capitals; of random letters and digits that are 43 in 100, and at 32 characters one in a hundred has more than 65.
    """
    if text.isupper() or text.islower() or not any(map(str.isdigit, text)):
        return False
    if len(_DIGITS_INSIDE.findall(text)) > 2:  # a name has a number or two, at its end
        return True
    pairs = [(a, b) for a, b in pairwise(text) if a.isalnum() and b.isalnum()]
    usual = sum(b.islower() if a.isalpha() else b.isdigit() for a, b in pairs)
    usual += sum(len(word) - 1 for word in _CAPITALS.findall(text))
    return usual <= 0.65 * len(pairs)


def _is_encoded_text(word: str, least: int) -> bool:
    """Whether a word is base64 of at least ``least`` bytes of plain text, which no word is by chance; secrets of Kubernetes and
    of Docker are written so.
    """
    word = word.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    if word.isupper() or word.islower():
        return False
    try:
        data = base64.b64decode(word + "=" * (-len(word) % 4))
    except (binascii.Error, ValueError):
        return False
    return len(data) >= least and all(32 <= byte < 127 or byte in b"\t\r\n" for byte in data)


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
