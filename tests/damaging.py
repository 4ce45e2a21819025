"""Bodies as an enemy or a broken client sends them: a valid one, damaged in one of many ways.

Each way is a function of a chance and of what is valid; it is named by its function.
"""

from __future__ import annotations

import copy
import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

JSON: Final = "application/json"


@dataclass(frozen=True)
class Sent:
    """The body of a request, and what its headers say of it; None is a header that is missing.

    `ends` is where the connection breaks, in bytes.
    """

    body: bytes
    media: str | None = JSON
    length: str | None = ""
    chunked: bool = False
    ends: int | None = None

    @property
    def said_length(self) -> str | None:
        """The Content-Length: the true one unless another is said."""
        return str(len(self.body)) if self.length == "" else self.length

    def stream(self) -> io.BytesIO:
        return Broken(self.body[: self.ends]) if self.ends is not None else io.BytesIO(self.body)


class Broken(io.BytesIO):
    """A connection that is gone after so many bytes."""

    def read(self, *size: int | None) -> bytes:
        got = super().read(*size)
        if len(got) < (size[0] or 0 if size else 1):
            raise OSError("The client has gone.")
        return got


Way = Callable[[random.Random, dict[str, Any]], Sent]
Place = tuple[Any, Any]
MARK: Final = "\u2603here\u2603"


def written(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


def places(body: Any) -> Iterator[Place]:
    """Yield container and key of every value, from the outside in."""
    waiting = [body]
    while waiting:
        inner = waiting.pop()
        keys: Any = inner.keys() if isinstance(inner, dict) else range(len(inner))
        for key in list(keys):
            yield inner, key
            if isinstance(inner[key], dict | list):
                waiting.append(inner[key])


def put(chance: random.Random, valid: dict[str, Any], value: Any) -> dict[str, Any]:
    """Return the valid body with one of its values replaced."""
    changed = copy.deepcopy(valid)
    found = list(places(changed))
    if not found:
        return {"organization": value}
    inner, key = chance.choice(found)
    inner[key] = value
    return changed


def literal(chance: random.Random, valid: dict[str, Any], text: bytes) -> bytes:
    """Return the valid body with the text in the place of one value, whatever it is."""
    return written(put(chance, valid, MARK)).replace(f'"{MARK}"'.encode(), text)


def cut_short(chance: random.Random, valid: dict[str, Any]) -> Sent:
    body = written(valid)
    return Sent(body[: chance.randrange(len(body))])


def broken_bytes(chance: random.Random, valid: dict[str, Any]) -> Sent:
    body = bytearray(written(valid))
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(body) + 1)
        body[place : place + chance.randint(0, 12)] = chance.choice(PIECES)
    return Sent(bytes(body))


def noise(chance: random.Random, _valid: dict[str, Any]) -> Sent:
    return Sent(chance.randbytes(chance.choice([0, 1, 3, 40, 3000])))


def nested(chance: random.Random, valid: dict[str, Any]) -> Sent:
    depth = chance.choice([7, 8, 9, 10, 50, 900, 5_000, 60_000])
    opening, closing = chance.choice([(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")])
    closed = chance.random() < 0.6
    inner = opening * depth + b"1" + (closing * depth if closed else b"")
    return Sent(inner if chance.random() < 0.3 else literal(chance, valid, inner))


def nul(chance: random.Random, valid: dict[str, Any]) -> Sent:
    texts = [b'"\\u0000"', b'"a\\u0000b"', b'"\x00"', b'"a\x00"', b"\x00", b'{"\\u0000": 1}']
    return Sent(literal(chance, valid, chance.choice(texts)))


def lone_surrogate(chance: random.Random, valid: dict[str, Any]) -> Sent:
    return Sent(literal(chance, valid, chance.choice(SURROGATES)))


def wrong_encoding(chance: random.Random, valid: dict[str, Any]) -> Sent:
    text = json.dumps(put(chance, valid, "Gruß, مرحبا, 你好"), ensure_ascii=False)
    name = chance.choice(ENCODINGS)
    media = chance.choice([JSON, f"{JSON}; charset={name}", f"{JSON}; charset=utf-8"])
    return Sent(text.encode(name, "replace"), media)


def doubled_key(chance: random.Random, valid: dict[str, Any]) -> Sent:
    name = chance.choice([*valid, "organization"])
    twice = f"{json.dumps(name)}: {json.dumps(chance.choice(VALUES))}".encode()
    deep = literal(chance, valid, b'{"a": 1, "a": 2, "\\ud800": 3, "\\ud800": 4}')
    body = written(valid)[:-1] + (b", " if valid else b"") + twice + b", " + twice + b"}"
    return Sent(chance.choice([body, deep]))


def odd_number(chance: random.Random, valid: dict[str, Any]) -> Sent:
    return Sent(literal(chance, valid, chance.choice(NUMBERS)))


def no_json_constant(chance: random.Random, valid: dict[str, Any]) -> Sent:
    return Sent(literal(chance, valid, chance.choice(NO_JSON)))


def wrong_type(chance: random.Random, valid: dict[str, Any]) -> Sent:
    return Sent(written(put(chance, valid, chance.choice(VALUES))))


def odd_text(chance: random.Random, valid: dict[str, Any]) -> Sent:
    return Sent(written(put(chance, valid, chance.choice(TEXTS))))


def other_top(chance: random.Random, valid: dict[str, Any]) -> Sent:
    return Sent(written(chance.choice([*VALUES, [valid], [valid, valid], json.dumps(valid)])))


def missing_field(chance: random.Random, valid: dict[str, Any]) -> Sent:
    changed = copy.deepcopy(valid)
    for name in chance.sample(sorted(changed), chance.randint(0, len(changed))):
        del changed[name]
    return Sent(written(changed))


def unknown_field(chance: random.Random, valid: dict[str, Any]) -> Sent:
    names = chance.sample(STRANGERS, chance.randint(1, 4))
    more = {name: chance.choice(VALUES) for name in names}
    many = {f"field {n}": n for n in range(300)} if chance.random() < 0.1 else {}
    return Sent(written({**valid, **more, **many}))


def wrong_media(chance: random.Random, valid: dict[str, Any]) -> Sent:
    return replace(Sent(written(valid)), media=chance.choice(MEDIA))


def other_form(chance: random.Random, valid: dict[str, Any]) -> Sent:
    """What browsers send, and what only looks like it."""
    bodies = [b"organization=acme&a=%ff&&;=", b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--x--",
              b"--x\r\n", b"", written(valid), b"a=1&" * 6_000]  # fmt: skip
    media = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "multipart/form-data",
             "multipart/form-data; boundary=" + "y" * 300, "multipart/form-data; boundary=\xff"]  # fmt: skip
    return Sent(chance.choice(bodies), chance.choice(media))


def wrong_length(chance: random.Random, valid: dict[str, Any]) -> Sent:
    body = written(valid)
    half, more = str(len(body) // 2), str(len(body) * 2)
    return replace(Sent(body), length=chance.choice([*LENGTHS, half, more]))


def gone_client(chance: random.Random, valid: dict[str, Any]) -> Sent:
    body = written(valid)
    return replace(Sent(body), ends=chance.randrange(len(body)))


def chunked(chance: random.Random, valid: dict[str, Any]) -> Sent:
    return replace(Sent(written(valid)), chunked=True, length=chance.choice(["", None]))


def too_large(chance: random.Random, valid: dict[str, Any]) -> Sent:
    size = chance.choice([20_000, 270_000, 300_000])
    return Sent(written(put(chance, valid, chance.choice(["x", "ü", "\u202e"]) * size)))


PIECES: Final = [
    b"{", b"}", b"[", b"]", b'"', b":", b",", b"null", b"NaN", b"-", b"1e999", b"\\u0000", b"\xff",
    b"\\ud800", b"[" * 50, b'{"a":' * 50, b"9" * 5000, b'"limit": true', b'"\\', b"\xef\xbb\xbf",
    b"\r\n", b"/*", b"\\u", b"\\x41", b"e", b".",
]  # fmt: skip
SURROGATES: Final = [
    b'"\\ud800"', b'"\\udfff\\ud800"', b'"a\\udc00"', b'"\xed\xa0\x80"', b'{"\\ud83d": "x"}',
]  # fmt: skip
ENCODINGS: Final = ["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7", "latin-1", "gb18030", "cp037"]  # fmt: skip
NO_JSON: Final = [
    b"NaN", b"Infinity", b"-Infinity", b"undefined", b"None", b"True", b"nan", b"'x'", b"0x10",
]  # fmt: skip
STRANGERS: Final = [
    "query", "id", "__proto__", "x" * 5_000, "non_field_errors", "", " ", "Organization", "ü",
]  # fmt: skip
LENGTHS: Final[list[str | None]] = [
    "0", "-1", "-9999999", "1e3", "\xb3", " ", None, "x", " 12 ", "9" * 30, "1,2", "+5",
]  # fmt: skip
NUMBERS: Final = [
    b"1e999", b"-1e999", b"1e-999", b"9" * 400, b"9" * 5000, b"-0", b"-0.0", b"1.5", b"5.0", b"1e2",
    b"2147483648", b"9223372036854775808", b"-9223372036854775809", b"01", b"1.", b".5", b"+1", b"1_000",
    b"0.1e-400", b"1E400", b"4294967296.0", b"1e18", b"1e19",
]  # fmt: skip
VALUES: Final[list[Any]] = [
    None, True, False, 0, 1, -1, 7, 5.5, 10**12, "", "x", "true", "5", [], {}, [[]], [{}], [None], ["x", 7],
    {"a": {}}, {"": ""}, {"id": "x"}, [True] * 600, list(range(30)), {"0": "a", "1": "b"},
]  # fmt: skip
TEXTS: Final = [
    "", " ", "\u200b\ufeff", "\x01\x7f\x85", "\u202eabc", "a\u0301" * 200, "\ufdfa" * 300, "\U000e0001" * 40,
    "x" * 230, "x" * 401, "x" * 1_001, "x" * 20_001, "y " * 4_000, "😀" * 500, "../../etc/passwd", "..", "/", "//", "%00",
    "' OR 1=1 --", "help/../x", "\\", "a\\b", "{}", "%s", "{0}", "\u2028", "0" * 300, "-1", "null", "PPR-9087",
    "2026-01-01T00:00:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-13-01T00:00:00Z",
    "00000000-0000-0000-0000-000000000000", "javascript:alert(1)", "http://[", "http://a b", "en-", "\ue000",
]  # fmt: skip
MEDIA: Final = [
    None, "", " ", "text/plain", "application/xml", "text/html; charset=utf-8", "application/jsonx", "json", "/",
    "application/json;", "application/json; charset", "application/json; charset=", ";charset=utf-8",
    "application/json; charset=utf-16", "application/json; charset=bogus", "application/json; charset*=bogus''x",
    "application/json; charset*=utf-8''utf-8", "application/json; charset*0=ut; charset*1=f-8", "\xff\xfe",
    'application/json; charset="', "application/json; charset=\xe9", "application/json," * 50, "x" * 3_000,
    "application/json; boundary=" + "b" * 5_000, "application/problem+json", "APPLICATION/JSON", "*/*",
    "application/json; charset*='", "application/json; charset*=%", "application/json; q*=a'b",
]  # fmt: skip
WAYS: Final[tuple[Way, ...]] = (
    cut_short, broken_bytes, noise, nested, nul, lone_surrogate, wrong_encoding, doubled_key, odd_number,
    no_json_constant, wrong_type, odd_text, other_top, missing_field, unknown_field, wrong_media, other_form,
    wrong_length, gone_client, chunked, too_large,
)  # fmt: skip


def damaged(chance: random.Random, valid: dict[str, Any]) -> tuple[str, Sent]:
    """Return the name of a way, and the body damaged in that way; some are damaged twice."""
    way = chance.choice(WAYS)
    if chance.random() < 0.15:
        valid = put(chance, valid, chance.choice([*TEXTS, *VALUES]))
    # The largest are dear, and one of them tells as much as many.
    if way is too_large and chance.random() < 0.8:
        way = odd_text
    return way.__name__, way(chance, valid)
