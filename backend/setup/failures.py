"""Why a set-up failed, in one line that says what to do.

Standard library only: the set-up runs before there is an environment.
"""

from __future__ import annotations

import errno
import re
import signal
import sys

OLDEST, NEWEST = (3, 11), (3, 14)
"""The Pythons that can be used. ``NEWEST``: the newest one for which every pinned package has a wheel."""

DISK_FULL = "the disk is full: free about 1 GB, or set CV_HOME to a folder on another disk"
PATH_TOO_LONG = (
    "a path is too long for this system: set CV_HOME to a short one, such as C:\\cv or /opt/cv (Windows also has a setting:"
    " LongPathsEnabled)"
)
FILE_IN_USE = (
    "another program holds a file of the set-up, often an antivirus scanner: run it again; where it comes back, close other"
    " sessions and let the scanner leave out the folder CV_HOME"
)

# What the installers print, and what a person should do about it; the first that matches wins.
REASONS = (
    (r"No space left on device|Errno 28|os error 28\b|os error 112|not enough space|[Dd]isk quota", DISK_FULL),
    (r"File name too long|Errno 36|Errno 63|os error 36\b|os error 63\b|Win(dows )?Error\]? ?206|os error 206"
     r"|Long ?Path", PATH_TOO_LONG),
    (r"WinError 32\b|WinError 33\b|os error 3[23]\b|being used by another process|Text file busy|WinError 5\b"
     r"|Access is denied", FILE_IN_USE),
    (r"\b407\b|Proxy Authentication Required",
     "the proxy refused (407): put user and password into HTTPS_PROXY (http://user:password@proxy:port)"),
    (r"CERTIFICATE_VERIFY_FAILED|invalid peer certificate|self.signed certificate|UnknownIssuer",
     "the package index's certificate is not trusted: set PIP_CERT and SSL_CERT_FILE to your organisation's"
     " certificate file"),
    (r"\b40[13]\b[^\n]*(Unauthorized|Forbidden|Client Error)|(Unauthorized|Forbidden)[^\n]*\b40[13]\b",
     "the package index refused (401 or 403): check the index and the login in the settings of pip or uv"),
    (r"DO NOT MATCH THE HASHES|[Hh]ash mismatch",
     "a downloaded package is not the pinned one (hash differs): a mirror or proxy changes files; use another index"),
    (r"name resolution|Name or service not known|nodename nor servname|getaddrinfo|dns error|NewConnectionError"
     r"|Connection refused|Network is unreachable|[Tt]imed out|ConnectTimeout|ReadTimeout|error sending request"
     r"|Failed to connect|Could not connect|Failed to establish|ProxyError|Max retries|ConnectionResetError"
     r"|network was disabled|tunnel error",
     "the package index cannot be reached: connect to the network, or set HTTPS_PROXY or your mirror"
     " (PIP_INDEX_URL, UV_DEFAULT_INDEX)"),
    (r"No matching distribution|no version of|no wheels|not compatible|has no usable wheels|Could not find a version",
     "your package index has no ready-made file of a pinned package for this system (needed: 64-bit macOS 13,"
     " Windows 10, or Linux with glibc 2.28, or later, and CPython 3.11 to 3.13), or it could not be reached"),
    (r"ensurepip is not\s+available|No module named '?(ensurepip|venv)",
     "this Python has no venv module: install it (Debian, Ubuntu: apt install python3-venv) or install uv"),
    (r"Permission denied|Read-only file system|Errno 13|Errno 30|os error 13\b|os error 30\b",
     "a file could not be written (no permission): see the log for which"),
)  # fmt: skip

NO_FALLBACK = (DISK_FULL, PATH_TOO_LONG)
"""Reasons where the other installer would meet the same."""


class SetupError(Exception):
    """The environment could not be made; the message is one line and says what to do."""


def explain(output: str, what: str, code: int) -> str:
    """Return in one line why ``what`` failed, from what it printed and its exit code."""
    for pattern, reason in REASONS:
        if re.search(pattern, output):
            return reason
    if code == -signal.SIGTERM or code == -9:
        return f"{what} was killed (perhaps too little memory): run it again"
    lines = [line.strip() for line in output.splitlines() if line.strip()] or [f"exit code {code}"]
    if "import" in what or "load" in what:
        newest = sys.version_info[:2] == NEWEST
        return f"{what} ({lines[-1]}): " + (
            "Python 3.14 is new; install Python 3.13"
            if newest
            else "send the log with a bug report"
        )
    return f"{what} failed ({lines[-1][:200]}): see the log"


def os_reason(error: OSError) -> str:
    """Return in one line what to do about an error of the system."""
    place = f" {error.filename}" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or winerror(error) == 112:
        return DISK_FULL
    if error.errno == errno.ENAMETOOLONG or winerror(error) == 206:
        return PATH_TOO_LONG
    if winerror(error) in (32, 33) or error.errno == errno.ETXTBSY:
        return f"{FILE_IN_USE}{f' ({error.filename})' if error.filename else ''}"
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return f"cannot write{place} ({error.strerror}): make it writable, or set CV_HOME to a folder that is"
    return f"{error.strerror or error}{place}: set CV_HOME to a folder that can be written"


def winerror(error: OSError) -> int:
    """Return Windows' own number of the error, 0 elsewhere."""
    return int(getattr(error, "winerror", 0) or 0)
