"""Bytes to text, whatever encoding they are in; bytes that are no text are refused."""

from __future__ import annotations

import codecs
import re
from typing import Final

from charset_normalizer import from_bytes

from knowledge.ingestion.errors import BinaryContent, UnknownEncoding
from knowledge.ingestion.readers.likeness import TEXT_CONTROLS, likeness

# The longer mark first: UTF-32 little endian begins like UTF-16.
MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
WIDE: Final = {"utf-32-le": 4, "utf-32-be": 4, "utf-16-le": 2, "utf-16-be": 2}
LEGACY: Final = (
    "cp1252", "gb18030", "cp932", "euc_jp", "big5", "cp949", "cp1256", "cp1251", "cp1250",
    "cp1253", "cp1254", "cp1255", "koi8_r", "shift_jisx0213", "euc_jisx0213", "big5hkscs",
)  # fmt: skip
SIGNATURES: Final = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "an archive or office file"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"\xd0\xcf\x11\xe0", "an old office file"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"\x1f\x8b", "compressed data"),
    (b"Rar!", "an archive"),
    (b"7z\xbc\xaf", "an archive"),
    (b"SQLite format 3\x00", "a database"),
)
SAMPLE: Final = 16 * 1024
MOST_CONTROLS: Final = 0.01
WRITING: Final = 0.8
AS_GOOD: Final = 0.03
# A NUL here and there is dirt; more of them are another kind of file, or wide characters.
STRAY: Final = 0.001
FEW: Final = 0.8
BREAKS: Final = frozenset(" \n\r\t.,，。、・！？｡।；：")
LONGEST_RUN: Final = 80
FEW_SIGNS: Final = 8
REPLACED: Final = "\ufffd"
ASCII_LETTER: Final = re.compile(rb"[A-Za-z]")


def decode(data: bytes, *, declared: str = "") -> str:
    """Return the text of the bytes, without a byte order mark.

    Raises: BinaryContent, UnknownEncoding
    """
    refuse_signature(data)
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _checked(_strict(data[len(mark) :], encoding))
    nuls = data.count(0)
    if nuls > len(data) * STRAY:
        return _checked(_wide(data))
    return _checked(_narrow(data.replace(b"\x00", b""), declared))


def refuse_signature(data: bytes) -> None:
    """Refuse what begins as a well-known binary format does.

    Raises: BinaryContent
    """
    for signature, what in SIGNATURES:
        if data.startswith(signature):
            raise BinaryContent(f"It is named like text and holds {what}.")


def _strict(data: bytes, encoding: str) -> str:
    text = _attempt(data, encoding)
    if text is None:
        raise UnknownEncoding(f"It says it is {encoding.upper()} and is damaged.")
    return text


def _attempt(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _checked(text: str) -> str:
    sample = text[:SAMPLE]
    controls = sum(c < " " and c not in TEXT_CONTROLS for c in sample)
    if controls > MOST_CONTROLS * len(sample):
        raise BinaryContent
    return text


def _narrow(data: bytes, declared: str) -> str:
    escaped = ("iso2022_jp_ext", "iso2022_kr") if b"\x1b$" in data else ()
    for encoding in (*escaped, "utf-8", declared):
        if encoding and (text := _attempt(data, encoding)) is not None:
            return text
        if encoding == "utf-8" and _is_damaged_utf8(data):
            raise UnknownEncoding("It is damaged UTF-8.")
    return _legacy(data)


def _is_damaged_utf8(data: bytes) -> bool:
    """Whether so much of it is UTF-8 that it was all of it once: read as anything else it is gibberish."""
    text = data.decode("utf-8", "replace")
    plain, bad = len(text.encode("ascii", "ignore")), text.count(REPLACED)
    good = len(text) - plain - bad
    # In Chinese and its like every third pair of bytes is UTF-8 by chance, in Western writing none is.
    most = good if good < FEW * plain else good / 2
    return bad <= most and likeness(text.replace(REPLACED, "")[:SAMPLE]) >= WRITING


def _wide(data: bytes) -> str:
    texts = {}
    for encoding, width in WIDE.items():
        text = _attempt(data[: len(data) - len(data) % width], encoding)
        if text is not None and "\x00" not in text:
            texts[encoding] = _wide_likeness(text[:SAMPLE])
    best = max(texts, key=texts.__getitem__, default="")
    if (
        not best
        or texts[best] < WRITING
        or not _has_breaks(data[: 2 * SAMPLE].decode(best, "ignore"))
    ):
        raise BinaryContent
    return data[: len(data) - len(data) % WIDE[best]].decode(best)


def _has_breaks(text: str) -> bool:
    """Writing pauses; columns of numbers that happen to be letters do not."""
    return len(text) < LONGEST_RUN or sum(sign in BREAKS for sign in text) > len(text) / LONGEST_RUN


def _wide_likeness(sample: str) -> float:
    # The wrong byte order turns spaces and line ends into signs that nobody writes.
    plain = sum(sign in " \n\r" for sign in sample) / max(len(sample), 1)
    return likeness(sample) + min(plain, 0.1)


def _legacy(data: bytes) -> str:
    texts = {name: text for name in LEGACY if (text := _attempt(data, name)) is not None}
    scores = {name: likeness(text[:SAMPLE], name) for name, text in texts.items()}
    wide = _wide_without_nul(data)
    if wide and likeness(wide) > max(scores.values(), default=0.0) + AS_GOOD:
        return wide
    if not scores or max(scores.values()) < WRITING:
        raise UnknownEncoding
    return texts[_chosen(data, scores)]


def _chosen(data: bytes, scores: dict[str, float]) -> str:
    good = [name for name, score in scores.items() if score >= max(scores.values()) - AS_GOOD]
    beyond = sum(byte > 0x7F for byte in data[:SAMPLE])
    letters = len(ASCII_LETTER.findall(data[:SAMPLE]))
    if "cp1252" in good and beyond < FEW * letters:
        # Mostly ASCII with a few accents or signs: too little to tell Western from Central European.
        good = [name for name in good if name in {"cp1252", "cp1250"}]
        if beyond < FEW_SIGNS:
            return "cp1252"
    best = from_bytes(data[:SAMPLE], cp_isolation=good).best()
    return best.encoding if best and best.encoding in good else good[0]


def _wide_without_nul(data: bytes) -> str:
    texts = (
        [_attempt(data, name) for name in ("utf-16-le", "utf-16-be")] if len(data) % 2 == 0 else []
    )
    return max((text for text in texts if text), key=likeness, default="")
