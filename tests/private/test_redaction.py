"""Secrets: taken out before anything is stored.

Each is put together here at run time, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import os
import random
import string
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.private.redaction import Redactor

dice = random.Random(20260203)


def some(length: int, letters: str = string.ascii_letters + string.digits) -> str:
    """Random letters, with a digit, a small and a capital one among them where there may be."""
    while True:
        text = "".join(dice.choice(letters) for _ in range(length))
        kinds = (str.isdigit, str.islower, str.isupper)
        if all(any(map(kind, text)) for kind in kinds if any(map(kind, letters))):
            return text


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
B64 = string.ascii_letters + string.digits + "+/"


def key_block(kind: str = "RSA ") -> str:
    body = "\n".join(some(64, B64) for _ in range(12))
    return f"-----BEGIN {kind}PRIVATE{' '}KEY-----\n{body}\n-----END {kind}PRIVATE{' '}KEY-----"


def token() -> str:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    return f"{part(chr(123) + chr(34) + 'alg' + chr(34) + ':1}')}.{part(chr(123) + chr(34) + 'sub' + chr(34) + ':1}')}.{some(43)}"


SECRETS = {
    "an AWS key id": "AK" + "IA" + some(16, UPPER),
    "an AWS secret alone": some(40, B64.replace("/", "")),
    "a GitHub token": "gh" + "p_" + some(36),
    "a fine-grained GitHub token": "github" + "_pat_" + some(22) + "_" + some(59),
    "a GitLab token": "gl" + "pat-" + some(20),
    "a Slack token": "xo" + "xb-" + some(12, string.digits) + "-" + some(12, string.digits) + "-" + some(24),
    "a Slack webhook": "https://hooks.slack" + f".com/services/T{some(8, UPPER)}/B{some(8, UPPER)}/{some(24)}",
    "a Stripe key": "sk" + "_live_" + some(24),
    "an Anthropic key": "sk" + "-ant-api03-" + some(93) + "AA",
    "an OpenAI key": "sk" + "-proj-" + some(48),
    "a Google key": "AI" + "za" + some(35),
    "an npm token": "np" + "m_" + some(36),
    "a PyPI token": "pypi-" + "AgEIcHlwaS5vcmc" + some(90),
    "a SendGrid key": "S" + "G." + some(22) + "." + some(43),
    "a Twilio key": "S" + "K" + some(32, HEX),
    "a JSON web token": token(),
    "a Hugging Face token": "h" + "f_" + some(34),
    "a Telegram token": some(9, string.digits) + ":" + some(35),
    "a Mailgun key": "ke" + "y-" + some(32, HEX),
    "an Airtable token": "pa" + "t" + some(14) + "." + some(64, HEX),
    "a Grafana token": "gl" + "sa_" + some(32) + "_" + some(8, HEX),
    "a Tailscale key": "ts" + "key-auth-" + some(17) + "-" + some(32),
}  # fmt: skip

PLACES = {
    "alone": "{}",
    "in a sentence": "I have put it in: {}, does that work?",
    "quoted": 'x = "{}"',
    "at the end of a long line": "word " * 900 + "{}",
    "on a numbered line": "    12\u2192 {}",
}

BY_NAME = {
    "an environment file": "DATABASE_PASSWORD={}",
    "an export": "export SERVICE_TOKEN={} && make",
    "quotes": 'password = "{}"',
    "single quotes": "api_key: '{}',",
    "JSON": '{{"client_secret":"{}","user":"ada"}}',
    "YAML": "password: {}",
    "an option": "tool login --password {} --verbose",
    "another option": "tool --token={}",
    "a header": 'curl -H "Authorization: Bearer {}" example.org',
    "a header of its own": "x-api-key: {}",
    "an address": "postgres://ada:{}@db.example.org/mill",
    "curl's user": "curl -u ada:{} example.org",
    "a sentence": "the password is {} by the way",
    "a cookie": "Cookie: sid={}; theme=dark",
    "escaped JSON": '{{\\"password\\": \\"{}\\", \\"user\\": \\"ada\\"}}',
    "doubly escaped JSON": '{{\\\\\\"api_key\\\\\\": \\\\\\"{}\\\\\\"}}',
    "an escaped line's end": "A=1\\nDB_PASSWORD={}\\nB=2",
    "XML": "<password>{}</password>",
    "an attribute": '<add key="password" value="{}"/>',
    "mysql": "mysql -u root -p{} mill",
    "sshpass": "sshpass -p '{}' ssh host",
    "docker": "docker login -u ada -p {} registry.example.org",
    "redis": "redis-cli -h db -a {} ping",
    ".netrc": "machine example.org login ada password {}",
    ".netrc, a line": "  password {}",
    ".pgpass": "db.example.org:5432:mill:ada:{}",
    "an address with @": "postgres://ada:p@{}@db.example.org/mill",
    "an address with /": "redis://:{}/x9@cache:6379/0",
    "a line that goes on": "API_KEY=first-half-\\\n{}",
    "a dollar": "password: $7{}",
    "a dollar in a variable": "DB_PASSWORD=$7{}",
    "a semicolon": "DB_PASSWORD=abc;{}",
    "a bracket": "password: abc({}",
    "a connection": "Server=db;User ID=ada;Password={};Encrypt=true",
    "a signature": "https://example.org/x?X-Amz-Signature={}&b=1",
    "a query": "https://example.org/x?key={}",
    "a query's token": "https://example.org/x?a=b&access_token={}#top",
    "a pair": 'credentials = ("ada", "{}")',
    "a header without a scheme": "Authorization: {}",
    "a header with a scheme of its own": '{{"authorization": "ApiKey {}"}}',
    "a row of a table": "| password   | {} |",
    "a wide colon": "password\uff1a{}",
    "an environment's entry": "- name: DB_PASSWORD\n  value: {}",
}

SMALL = {
    "a list": "{{user: ada, password: {}, x: 1}}",
    "a property": "db.password = {}",
    "escaped": '{{\\"password\\":\\"{}\\"}}',
    "XML": "<db.password>{}</db.password>",
}
"""Where a password of small letters alone is known by its place."""


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_of_each_kind_goes_wherever_it_stands(
    redactor: Redactor, kind: str, place: str
) -> None:
    secret = SECRETS[kind]
    text = redactor.clean("before\n" + PLACES[place].format(secret) + "\nafter", 20_000)
    assert secret not in text
    assert secret[len(secret) // 2 :] not in text, "nor its second half"
    assert "[redacted: " in text
    assert text.startswith("before\n")
    assert text.endswith("\nafter")


@pytest.mark.parametrize("place", BY_NAME)
def test_what_is_called_a_secret_is_one(redactor: Redactor, place: str) -> None:
    secret = "brisk" + some(9)
    text = redactor.clean(BY_NAME[place].format(secret), 20_000)
    assert secret not in text
    assert "[redacted: " in text


@pytest.mark.parametrize("place", SMALL)
def test_a_password_without_a_digit(redactor: Redactor, place: str) -> None:
    secret = some(12, string.ascii_lowercase)
    assert secret not in redactor.clean(SMALL[place].format(secret), 20_000)


def test_plain_text_in_base64_goes_as_kubernetes_and_docker_write_it(redactor: Redactor) -> None:
    for secret, place in (
        (some(24), "data:\n  any: {}"),
        ("pa55 word", "apiVersion: v1\ndata:\n  any: {}\nkind: Secret"),
        (f"ada:{some(20)}", '{{"auths":{{"example.org":{{"auth":"{}"}}}}}}'),
        (f'{{"password":"{some(9)}"}}', "https://example.org/back?data={}"),
    ):
        encoded = base64.b64encode(secret.encode()).decode()
        assert encoded.rstrip("=") not in redactor.clean(place.format(encoded), 20_000)


@pytest.mark.parametrize("length", [32, 36, 40, 64])
def test_random_words_go_without_a_name(redactor: Redactor, length: int) -> None:
    """Nearly all; one in fifty of 32 letters and digits looks no more random than a name."""
    words = [some(length) for _ in range(100)]
    left = [word for word in words if word in redactor.clean(f"take {word} for it", 20_000)]
    assert len(left) <= 6


@pytest.mark.parametrize("kind", ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""])
def test_a_key_block_goes_as_a_whole(redactor: Redactor, kind: str) -> None:
    block = key_block(kind)
    numbered = "\n".join(f"{n:>6}\u2192{line}" for n, line in enumerate(block.split("\n"), 1))
    for form in (block, numbered, block.replace("\n", "\\n"), block.partition("-----END")[0]):
        text = redactor.clean(f"see\n{form}", 20_000)
        assert text.removeprefix("see\n").lstrip(" 1\u2192") == "[redacted: Private Key]"


def test_several_on_one_line(redactor: Redactor) -> None:
    one, two, three = some(12), some(12), SECRETS["a GitHub token"]
    text = redactor.clean(
        f'login(password="{one}", secret="{two}", other="{three}", secret="{one}")', 500
    )
    assert not any(secret in text for secret in (one, two, three))


def test_the_cut_halves_no_secret(redactor: Redactor) -> None:
    secret = SECRETS["a GitHub token"]
    for at in range(60, 110, 3):
        text = redactor.clean(" " * at + secret + " " * 300, 100)
        assert secret[:8] not in text
    assert redactor.clean("a" * 50 + "\n" + key_block() + "b" * 9_000, 60).count("[redacted") == 1


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it",
        'uuid "f18fa375-a466-4ee4-baaf-dc51e3dd0b91" in session 5ee03453-f0ad-4330-a54a-1c268ad17b9d',
        "input_tokens: 12867, max_tokens=4096, tokenizer = Tokenizer.from_file(path)",
        "token = parser.next_token(); key = row[0]; password = getpass()",
        "The secret is to start early; the key: patience. Use a token bucket.",
        "/home/ada/projects/mill/backend/freshness/static_model_version_2026/tests.py:120-140",
        "https://example.org:8080/path@2 and mailto:ada@example.org, 10:30:05",
        "PASSWORD=$DB_PASSWORD make; export TOKEN=<your token>",
        "class AbstractSingletonProxyFactoryBean2 extends AbstractVeryLongNameOfAnotherClassInJava1:",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "Basic knowledge of bearer bonds",
        "uuids f18fa375-a466-4ee4-baaf-dc51e3dd0b91/5ee03453-f0ad-4330-a54a-1c268ad17b9d.jsonl",
        "docs/ADR/2026-01-05_How-The-Ferry-Lands-In-Fog_v2/README-Of-The-Harbour.md",
        "VS_NO_SOLUTION_DEPLOY_2026/CMAKE_INTERPROCEDURAL_OPTIMIZATION_x86.rst",
        "AbstractHTTPServerConnectionFactoryOfTheHarbour2Test.testConnectsTwiceWithinOneSecond",
        "def login(user: str, password: str, token: Optional[str] = None) -> bool:",
        "login(password=password, token=self.token(), key=keys[0])",
        "interface Login { password: string; token: string }",
        '{"input_tokens":128670,"model":"some-model-2026","cache_read_input_tokens":0}',
        "http://localhost:8080/@scope/package@1.2.3, see main.c:120:15: error: password expected",
        "| token | string | 4 |",
        "password: ${DB_PASSWORD}, token: {{ token }}, secret=<your-secret>",
        "docker run -p 8080:80 image; mysql -p mill; mkdir -p a/b/c",
        "Authorization: see the chapter on headers",
        "The password field of the login form is required; the token has expired",
    ],
)
def test_what_is_no_secret_stays(redactor: Redactor, text: str) -> None:
    assert redactor.clean(text, 20_000) == text


redact = Redactor()


@settings(max_examples=60, deadline=2_000)
@given(st.text(max_size=300), st.integers(min_value=1, max_value=400))
def test_any_text_at_all(text: str, limit: int) -> None:
    cleaned = redact.clean(text, limit)
    cleaned.encode()
    assert (
        "[redacted" in cleaned
        or len(text) > limit
        or cleaned == text.encode("utf-8", "replace").decode()
    )


@pytest.mark.parametrize(
    "piece", ['x="', "://a:", "password=", "a", "A1b", "//", '{"a":"b",', "-----BEGIN ", "key: "]
)
def test_no_piece_over_and_over_takes_long(redactor: Redactor, piece: str) -> None:
    text = (piece * 20_000)[:36_000]
    started = time.process_time()
    redactor.clean(text, 20_000)
    assert time.process_time() - started < 5


HINTS = (
    "password", "passwd", "secret ", "token", "api_key", "credential", "aws", "ibm_cloud_api_key", "softlayer", "cloudant",
    "cos_secret_access_key", "authorization: ", "cookie: ", "--password", "login ada password", "mysql ", "docker login ",
    "| password", "<password", "?key=", "://ada:", "name: password\nvalue:", "-----BEGIN PRIVATE KEY-----",
)  # fmt: skip


@pytest.mark.parametrize("fill", [" ", "\t", "a", "A1", ".", '"', "'", "=", "\\", "|", ", ", "a_"])
def test_a_long_run_after_any_hint_takes_no_time(redactor: Redactor, fill: str) -> None:
    """One of the library's patterns took more than a minute for a word and 1,900 blanks."""
    for hint in HINTS:
        run = fill * (1_950 // len(fill))
        started = time.process_time()
        for text in (hint + run, run + hint, (hint + fill) * (1_950 // len(hint + fill))):
            redactor.clean(text, 20_000)
        assert time.process_time() - started < 1, hint


def test_no_secret_reaches_any_file(
    session: Any, cv: Any, tree: Any, holding: Any, documents: Any
) -> None:
    """All of them, in every part of a transcript; then a byte search through everything that we have written."""
    one = session()
    said = [*SECRETS.values()]
    block = key_block()
    body = block.split("\n")[4]
    named = "brisk" + some(10)
    for secret in said:
        one.user(f"this is it: {secret}")
        one.assistant(f"You should not have told me {secret}.")
    one.user(f"and the file\n{block}\n")
    for number, secret in enumerate(said):
        one.call(
            "Bash",
            {"command": f"login {secret}", "env": {"X_SECRET": named}, "list": [secret]},
            f"toolu_{number}",
        )
        one.result([{"type": "text", "text": f"stored {secret} in\n{block}"}], f"toolu_{number}")
    one.call("Write", {"nested": {"password": "two words of it"}}, "toolu_x")

    done = cv("sync", "--with-sessions", "--with-traces", "--yes")
    assert done.code == 0, done
    assert "taken out as secrets, never stored:" in done.out
    assert len(documents("claude-code-sessions")) == 2 * len(said) + 1
    assert len(documents("claude-code-tool-traces")) == len(said) + 1
    assert holding("this is it"), "the search itself works"
    for secret in [*said, body, named, "two words of it"]:
        assert holding(secret) == [], "a secret was stored"
        assert secret not in done.out + done.err


def test_chroma_leaves_none_of_our_memory_in_its_files(session: Any, cv: Any, tree: Any) -> None:
    """It writes places for vectors that are not in use as they are in memory, where unredacted text has stood."""
    session().user("hello")
    cv("sync", "--with-sessions", "--yes")
    headers = list((tree.root / ".context-vigilance/private/chroma").glob("*/header.bin"))
    assert headers
    for header in headers:
        _, _, places, used, each = struct.unpack_from("<i4Q", header.read_bytes())
        assert used < places
        for name, size in (("data_level0.bin", each), ("length.bin", 4)):
            assert not any(header.with_name(name).read_bytes()[used * size :]), name


def test_without_its_library_nothing_is_read(
    session: Any, cv_process: Any, tree: Any, tmp_path: Any
) -> None:
    session().user("hello")
    (tmp_path / "empty/detect_secrets").mkdir(parents=True)
    (tmp_path / "empty/detect_secrets/__init__.py").write_text("raise ImportError('broken')")
    path = os.pathsep.join((str(tmp_path / "empty"), str(Path(__file__).resolve().parents[2])))
    done = cv_process("sync", "--with-sessions", "--yes", PYTHONPATH=path)
    assert done.code == 1
    assert "No transcript is read without it" in done.err
    assert not (tree.root / ".context-vigilance/private/ledger.sqlite").exists()
