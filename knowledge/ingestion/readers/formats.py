"""Which reader a file goes to, by its name; every reader checks the bytes itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from knowledge.ingestion.errors import NoText
from knowledge.ingestion.readers.parsed import ParsedText
from knowledge.ingestion.readers.plain import read_plain

Reader = Callable[[str, bytes], ParsedText]


def _markdown(name: str, data: bytes) -> ParsedText:
    from knowledge.ingestion.readers.markdown import read_markdown

    return read_markdown(name, data)


def _html(name: str, data: bytes) -> ParsedText:
    from knowledge.ingestion.readers.html import read_html

    return read_html(name, data)


# Readers load their libraries when a first file needs them: most imports are of one kind.
READERS: Final[dict[str, Reader]] = {
    **dict.fromkeys(("md", "markdown", "mdown", "mkd", "mdx"), _markdown),
    **dict.fromkeys(("html", "htm", "xhtml"), _html),
}
ROWS: Final = frozenset({"jsonl", "ndjson"})
# What lies beside documents in a folder and holds no text to speak from.
WORDLESS: Final = frozenset(
    {
        "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "ico", "heic", "avif", "svg",
        "mp3", "wav", "ogg", "flac", "m4a", "mp4", "mov", "avi", "mkv", "webm", "woff", "woff2",
        "ttf", "otf", "eot", "css", "scss", "js", "mjs", "ts", "map", "lock", "pyc", "so", "dll",
        "exe", "bin",
    }
)  # fmt: skip


def extension(name: str) -> str:
    """Return what follows the last dot of a file's name, in lower case."""
    head, dot, end = name.rpartition("/")[2].rpartition(".")
    return end.lower() if dot and head else ""


def parse(name: str, data: bytes) -> Iterable[ParsedText]:
    """Return every text in the bytes of a file.

    Raises: Unreadable
    """
    kind = extension(name)
    if kind in WORDLESS:
        raise NoText("Files of this kind hold no text.")
    return [READERS.get(kind, read_plain)(name, data)]
