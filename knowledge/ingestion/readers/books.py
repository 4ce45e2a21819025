"""Books in EPUB: their chapters in reading order."""

from __future__ import annotations

import posixpath
import zipfile
from typing import Any
from urllib.parse import unquote

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from knowledge.ingestion.errors import Malformed, NoText
from knowledge.ingestion.readers.encodings import decode
from knowledge.ingestion.readers.html import markdown_of
from knowledge.ingestion.readers.parsed import ParsedText, hints, parsed, title_from_name
from knowledge.ingestion.readers.zipped import entry, opened

PACKAGE = "{http://www.idpf.org/2007/opf}"
CORE = "{http://purl.org/dc/elements/1.1/}"
CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"


def read_book(name: str, data: bytes) -> ParsedText:
    """Return the chapters one after the other.

    Raises: Encrypted, Malformed, NoText, TooLarge, TooManyEntries
    """
    with opened(data) as archive:
        try:
            place = _package_place(archive)
            package = fromstring(entry(archive, place))
        except (ParseError, DefusedXmlException, AttributeError) as error:
            raise Malformed from error
        chapters = [_chapter(archive, path) for path in _spine(package, place)]
    title = package.findtext(f".//{CORE}title") or title_from_name(name)
    said = hints(package.findtext(f".//{CORE}language") or "", "")
    return parsed(title, "\n\n".join(filter(None, chapters)), **said)


def _package_place(archive: zipfile.ZipFile) -> str:
    container = fromstring(entry(archive, "META-INF/container.xml"))
    return str(container.find(f".//{CONTAINER}rootfile").get("full-path"))


def _spine(root: Any, place: str) -> list[str]:
    manifest = {item.get("id"): item.get("href") for item in root.iter(f"{PACKAGE}item")}
    order = [reference.get("idref") for reference in root.iter(f"{PACKAGE}itemref")]
    folder = posixpath.dirname(place)
    return [
        posixpath.normpath(posixpath.join(folder, unquote(manifest[each] or "")))
        for each in order
        if each in manifest
    ]


def _chapter(archive: zipfile.ZipFile, path: str) -> str:
    try:
        return markdown_of(decode(entry(archive, path)))
    except NoText:
        return ""
