"""Our own patterns of secrets, added where detect-secrets is blind in free text; one entry is one way in which secrets stand.

Every repetition has a bound, and no two that can match the same characters follow each other, so that no text takes long.
"""

from __future__ import annotations

import re
from typing import NamedTuple

KEYWORD, HEADER, URL, TOKEN = (
    "Secret Keyword",
    "Authorization Header",
    "Basic Auth Credentials",
    "Token",
)


class Form(NamedTuple):
    """A pattern; what it calls ``value``, else all of it, is the secret. It is tried only on a text that, in small letters, holds
    one of ``needs``: looking for a plain word is many times faster.
    """

    kind: str
    pattern: re.Pattern[str]
    needs: tuple[str, ...]


def _form(kind: str, needs: str, pattern: str) -> Form:
    return Form(kind, re.compile(pattern), tuple(needs.split()))


NAME = (
    r"(?i:passw(?:or)?d|passphrase|passwort|pwd|secret|token|credential|"
    r"(?:api|access|private|auth|account|client|signing|encryption|service|master|db)[_-]?key)"
)
_NAMES = "passw passphrase pwd secret token credential key"
_PASSWORD = r"(?i:passw(?:or)?d|passphrase|passwort)"
_START = r"(?:(?<![\w.-])|(?<=\\[nrt]))"  # also after the \n of an escaped text
_QUOTE = (
    r"(?:\\{0,8}[\"'`])"  # JSON inside JSON puts a backslash before it, and three the next time
)
_IS = rf"(?:{_QUOTE}|\]){{0,2}}\s?(?::=|=>|[=:\uff1a])\s{{0,4}}"
_VARIABLE = r"\$(?:[{(]|[A-Z_][A-Z0-9_]*\b|[a-z_][a-z0-9_]*\b)|[<{]"
_CALL = r"[A-Za-z_][\w.]{0,80}(?:\[|\((?:[^()\n]{0,80}[()]|\s|$|[\"'{\[]))"
_NO_SECRET = rf"(?!{_VARIABLE}|{_CALL}|\[|\()"  # what a value in code looks like
_CHARACTER = r"(?:[^\s\"'`,;\\]|;(?![\s\"'`]|\w{1,40}=|$)|\\(?![\\\"'`nrt]))"
_WORD = rf"{_NO_SECRET}(?:{_CHARACTER}){{4,400}}"
_MIXED = rf"(?=[^\s\"'`,]{{0,200}}?[A-Za-z])(?=[^\s\"'`,]{{0,200}}?\d)(?!\d+,){_NO_SECRET}(?:{_CHARACTER}){{6,400}}"
"""Letters and digits, and neither a variable nor a call: what a secret without quotes looks like beside its name."""

BLOCKS = (
    _form(
        "Private Key",
        "private",
        r"(?i:-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)(?s:.*?)"
        r"(?i:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    _form("Private Key", "putty-user", r"PuTTY-User-Key-File-\d(?s:.*?)(?:Private-MAC:\s*\w+|\Z)"),
    # A value that goes on after a backslash at the end of the line.
    _form(
        KEYWORD,
        "\\",
        rf"{NAME}[\w-]{{0,40}}{_IS}{_QUOTE}?(?P<value>(?:[^\s\"'`\\]{{1,400}}\\\r?\n[ \t]{{0,40}}){{1,8}}[^\s\"'`\\]{{1,400}})",
    ),
    # - name: DB_PASSWORD, and on the next line value: X, as in a container's environment.
    _form(
        KEYWORD,
        "value:",
        rf"name:[ \t]{{0,4}}[\"']?[\w.-]{{0,40}}?{NAME}[\w.-]{{0,40}}[\"']?[ \t]{{0,4}}\r?\n[ \t]{{0,40}}value:[ \t]{{0,4}}"
        rf"[\"']?(?P<value>{_WORD})",
    ),
)
"""Over several lines."""

NAMED = (
    # NAME=value as in an environment file: whatever the value, unless it is a variable or a placeholder.
    _form(
        KEYWORD,
        _NAMES,
        rf"{_START}[A-Z0-9_]{{0,40}}(?:PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|TOKEN|CREDENTIALS?|KEY)(?:_[A-Z0-9]{{1,10}})?"
        rf"=[\"']?(?!{_VARIABLE})(?P<value>[^\s\"'`]{{4,4000}}|(?<=[\"'])[^\"'\n]{{4,4000}})",
    ),
    # api_key: value, without quotes or in escaped ones.
    _form(
        KEYWORD,
        _NAMES,
        rf"{_START}[\w.-]{{0,40}}?{NAME}[\w-]{{0,40}}{_IS}{_QUOTE}?(?P<value>{_MIXED})",
    ),
    # password: value, without a digit too, where a line or an entry of a list ends after it. Not a type, not a parameter.
    _form(
        KEYWORD,
        "passw passphrase",
        rf"{_START}[\w.-]{{0,40}}?{_PASSWORD}{_QUOTE}?\s?[:=\uff1a]\s{{0,4}}"
        r"(?!(?i:str|string|text|bytes|bool|boolean|number|none|null|true|false|undefined|required|optional)\b)"
        rf"(?![\w.]{{0,60}}{_PASSWORD}\b)(?P<value>{_WORD})(?=\s*$|\s?[,}})])",
    ),
    # A value in quotes, escaped or not, whatever it holds; the library passes over those that begin with a sign.
    _form(
        KEYWORD,
        _NAMES,
        rf"{NAME}\w{{0,40}}{_IS}(?:\\{{1,8}}[\"'](?!{_VARIABLE})|[\"'](?!{_VARIABLE})(?=[^\w\s\"']))(?P<value>[^\"'\n\\]{{4,400}})",
    ),
    # --password X
    _form(
        KEYWORD,
        "--",
        rf"(?<!-)--[\w-]{{0,30}}?{NAME}[\w-]{{0,30}}[ =]{_QUOTE}?(?!{_VARIABLE})(?P<value>[^\s\"'`<-][^\s\"'`]{{3,400}})",
    ),
    # The password is X.
    _form(KEYWORD, _NAMES, rf"\b{NAME}\s{{1,4}}(?:is|was|ist)\s?:?\s?[\"'`]?(?P<value>{_MIXED})"),
    # password X, as in a configuration without an equals sign; in .netrc without a digit, too.
    _form(KEYWORD, "passw", rf"\b{_PASSWORD}\s{{1,4}}(?P<value>{_MIXED})"),
    _form(
        KEYWORD, "passw", r"\blogin\s{1,4}\S{1,100}\s{1,4}(?i:password)\s{1,4}(?P<value>\S{3,400})"
    ),
    # <password>X</password>, and <add key="password" value="X"/>
    _form(
        KEYWORD,
        "</",
        rf"<[\w:.-]{{0,40}}?{NAME}[\w:.-]{{0,40}}(?:\s[^<>\n]{{0,200}})?>(?P<value>[^<>\n]{{3,400}})</",
    ),
    _form(
        KEYWORD,
        "value=",
        rf"(?i:key|name|id)={_QUOTE}[\w:. -]{{0,40}}?{NAME}[\w:. -]{{0,40}}{_QUOTE}\s{{1,4}}(?i:value)={_QUOTE}"
        rf"(?P<value>[^\"'\n\\]{{3,400}})",
    ),
    # | password | X |, a row of a table
    _form(
        KEYWORD,
        "| \u2502",
        rf"[|\u2502][^|\u2502\n]{{0,40}}?{NAME}[^|\u2502\n]{{0,80}}[|\u2502][ \t*]{{0,80}}"
        r"[\"'`]?(?P<value>(?=[^\s|]{0,200}\d)[^\s|\"'`]{4,400})",
    ),
    # credentials = ("ada", "X")
    _form(
        KEYWORD,
        "credential auth login",
        rf"(?i:credentials?|auth|login)\s?[=:]\s?[(\[]\s?{_QUOTE}[^\"'\n]{{0,100}}{_QUOTE}\s?,\s?{_QUOTE}(?P<value>[^\"'\n\\]{{3,400}})",
    ),
)
"""What is a secret by the name that stands before it."""

FORMS = (
    # scheme://user:X@host; the last @ counts, since a password may hold one. Not a port with a path.
    _form(
        URL,
        "://",
        rf"://[^\s{{}}/@:]{{0,100}}:(?!\d{{1,5}}(?:/|$)|{_VARIABLE})(?P<value>[^\s{{}}\"'`<>]{{1,200}})@(?=[\w\[])",
    ),
    # curl -u user:X
    _form(
        URL, "-u --user", r"\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,100}:(?P<value>[^\s\"']{3,400})"
    ),
    # mysql -pX, sshpass -p X, docker login -p X, redis-cli -a X
    _form(
        KEYWORD,
        "mysql maria",
        rf"\b(?:mysql|mariadb)[\w-]{{0,20}}\b[^|;&\n]{{0,200}}?\s-p[\"']?(?!{_VARIABLE})(?P<value>[^\s\"'-][^\s\"']{{2,400}})",
    ),
    _form(
        KEYWORD,
        "sshpass login redis-cli",
        r"\b(?:sshpass|(?:docker|podman|nerdctl|buildah|skopeo|oras|registry)\s{1,4}login|redis-cli)\b"
        r"[^|;&\n]{0,200}?\s-[pa][ =]?"
        rf"[\"']?(?!{_VARIABLE})(?P<value>[^\s\"'-][^\s\"']{{2,400}})",
    ),
    # host:5432:database:user:X, a line of .pgpass
    _form(
        KEYWORD,
        ":",
        r"(?:^|(?<=[\s\"'\u2192]))[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:(?P<value>[^\s\"']{3,400})",
    ),
    # ?key=X, &X-Amz-Signature=X, ?token=X
    _form(
        KEYWORD,
        "=",
        rf"(?:[?&;]|amp;|u0026|,\s?)(?:[\w.-]{{0,40}}?{NAME}[\w.-]{{0,20}}|(?i:(?:[\w.-]{{0,40}}[_.-])?(?:key|sig|signature|code|session|jwt)))"
        rf"=(?!{_CALL})(?P<value>(?=[^\s&\"']{{0,200}}\d)[^\s&\"'<>#`\\]{{8,4000}})",
    ),
    # Authorization: Bearer X, Authorization: X
    _form(
        HEADER,
        "authorization",
        rf"(?i:authorization){_QUOTE}?\s?[:=]\s?{_QUOTE}?(?i:bearer|basic|digest|token|apikey|key)\s{{1,4}}(?P<value>[^\s\"'$<{{\\]{{6,4000}})",
    ),
    _form(
        HEADER,
        "authorization",
        rf"(?i:authorization){_QUOTE}?\s?[:=]\s?{_QUOTE}?(?P<value>(?=[^\s\"']{{0,200}}\d)[^\s\"'$<{{\\(\[]{{8,4000}})",
    ),
    _form(
        HEADER,
        "bearer basic",
        r"\b(?i:bearer|basic)\s{1,4}(?P<value>(?=[^\s]{0,200}[\dA-Z+/=._-])[A-Za-z0-9._~+/=-]{16,4000})",
    ),
    _form(
        "Cookie",
        "cookie",
        rf"(?<![\w-])(?i:(?:set-)?cookie){_QUOTE}?\s?:\s?(?:\[\s?)?{_QUOTE}?(?P<value>[^\s=;\"']{{1,100}}=[^\r\n\"']{{8,4000}})",
    ),
    # Tokens whose beginning says whose they are.
    _form(
        TOKEN,
        "sk- aiza gocspx- ya29. github_ npm_ hf_ xapp- xox _live_ _test_ whsec_ dop_v1_ shp dckr_ hvs. lin_api_ age-secret- "
        "key- pat sq0 gls glrt- atatt3 secret_ figd_ tskey- vercel_ 8q~ 1//0",
        r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_.-]{20,}|"
        r"github_pat_[A-Za-z0-9_]{20,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,}|xapp-[A-Za-z0-9-]{20,}|xox[a-z]-[A-Za-z0-9-]{10,}|"
        r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{20,}|dop_v1_[a-f0-9]{40,}|shp[a-z]{2}_[a-fA-F0-9]{30,}|"
        r"dckr_pat_[A-Za-z0-9_-]{20,}|hvs\.[A-Za-z0-9_-]{20,}|lin_api_[A-Za-z0-9]{30,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|"
        r"key-[0-9a-f]{32}|pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}|sq0[a-z]{3}-[\w-]{22,}|glsa_\w{32,}|glrt-[\w-]{20,}|"
        r"ATATT3[\w=-]{40,}|secret_[A-Za-z0-9]{40,}|figd_[\w-]{30,}|tskey-[a-z]{2,20}-[\w-]{20,}|vercel_[A-Za-z0-9]{20,}|"
        r"\w{3}8Q~[\w.~-]{30,}|1//0[\w-]{40,})",
    ),
)
"""What is a secret by its own form."""
