"""Which reader a file goes to, by its name; every reader checks the bytes itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, Final

from knowledge.ingestion.errors import NoText, UnsupportedFormat
from knowledge.ingestion.readers.nesting import Inner, Nest
from knowledge.ingestion.readers.parsed import ParsedText, Reading

Reader = Callable[[str, bytes], ParsedText]
ReaderOfMany = Callable[[str, bytes, Inner], Iterable[Reading]]

ROWS: Final = frozenset({"jsonl", "ndjson"})
# Kinds whose bytes are not their text: pictures and compression make them large or small.
PACKED: Final = frozenset(
    {"pdf", "docx", "docm", "pptx", "pptm", "ppsx", "xlsx", "xlsm", "epub", "zip", "eml", "json"}
)
# What lies beside documents in a folder and holds no text to speak from.
WORDLESS: Final = frozenset(
    {
        "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "ico", "heic", "avif", "svg",
        "mp3", "wav", "ogg", "flac", "m4a", "mp4", "mov", "avi", "mkv", "webm", "woff", "woff2",
        "ttf", "otf", "eot", "map", "lock", "pyc", "so", "dll", "exe", "bin", "dat", "db", "sqlite",
    }
)  # fmt: skip
# Text that tells machines something: left out of folders, read when it is named.
CODE: Final = frozenset(
    {
        "css", "scss", "js", "mjs", "ts", "jsx", "tsx", "py", "rb", "go", "rs", "java", "c", "h",
        "cpp", "cs", "php", "sh", "ps1", "sql", "yml", "yaml", "toml", "ini", "cfg", "conf", "xml",
    }
)  # fmt: skip
OTHER: Final = frozenset(
    {
        "doc", "xls", "ppt", "rtf", "odt", "ods", "odp", "pages", "numbers", "key", "msg", "mobi",
        "azw3", "djvu", "ps", "xps", "7z", "rar", "tar", "gz", "tgz", "bz2", "xz", "vsd", "one",
    }
)  # fmt: skip
# Module and function: a reader loads its libraries when a first file needs it.
READERS: Final[dict[str, str]] = {
    **dict.fromkeys(("md", "markdown", "mdown", "mkd", "mdx"), "markdown.read_markdown"),
    **dict.fromkeys(("html", "htm", "xhtml"), "html.read_html"),
    **dict.fromkeys(("xlsx", "xlsm"), "sheets.read_sheets"),
    **dict.fromkeys(("docx", "docm"), "word.read_word"),
    **dict.fromkeys(("pptx", "pptm", "ppsx"), "slides.read_slides"),
    "pdf": "pdf.read_pdf",
    "epub": "books.read_book",
}
READERS_OF_MANY: Final[dict[str, str]] = {
    **dict.fromkeys(("csv", "tsv"), "delimited.read_delimited"),
    **dict.fromkeys(("jsonl", "ndjson"), "json_rows.read_lines"),
    "json": "exports.read_export",
    "zip": "archives.read_archive",
    "eml": "mail.read_mail",
}


def extension(name: str) -> str:
    """Return what follows the last dot of a file's name, in lower case."""
    head, dot, end = name.rpartition("/")[2].rpartition(".")
    return end.lower() if dot and head else ""


def holds_many(name: str) -> bool:
    """Whether a file of this name holds several texts, each with an id of its own."""
    return extension(name) in READERS_OF_MANY


def parse(name: str, data: bytes, nest: Nest | None = None) -> Iterator[Reading]:
    """Yield every text in the bytes of a file.

    Raises: Unreadable
    """
    kind = extension(name)
    if kind in WORDLESS:
        raise NoText("Files of this kind hold no text.")
    if kind in OTHER:
        raise UnsupportedFormat(f"No reader knows .{kind}: save it as PDF, DOCX or Markdown.")
    if kind in READERS_OF_MANY:
        read_many: ReaderOfMany = _function(READERS_OF_MANY[kind])
        yield from read_many(name, data, Inner(parse, nest or Nest()))
    else:
        read: Reader = _function(READERS.get(kind, "plain.read_plain"))
        yield read(name, data)


def _function(place: str) -> Any:
    module, _, name = place.partition(".")
    return getattr(import_module(f"knowledge.ingestion.readers.{module}"), name)
