"""Files that are just what they were when they were last brought in are not parsed again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from knowledge.ingestion.reading import FLAGS
from knowledge.ingestion.request import ImportRequest
from knowledge.ingestion.rows import shortened
from knowledge.ingestion.walking import Found
from knowledge.models import ImportedFile, Item, Source

# A file of more rows is parsed each time: its ids would weigh more than the parsing.
MOST_ROWS: Final = 2_000
_LIBRARIES: Final = (
    "pdfplumber", "pdfminer.six", "mammoth", "markdownify", "python-pptx", "openpyxl", "trafilatura",
    "markdown-it-py", "lxml", "charset-normalizer",
)  # fmt: skip


@dataclass(frozen=True)
class Remembered:
    """A file that came in whole: under which name, as what, and which ids it gave."""

    name: str
    digest: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Memory:
    """What is known of the files of a source, and the versions that its items have now."""

    request: ImportRequest
    source: Source
    known: Mapping[str, tuple[str, Mapping[str, int]]] = field(default_factory=dict)
    versions: Mapping[str, int] = field(default_factory=dict)

    def name_of(self, found: Found) -> str:
        """Return the name under which a file is remembered: where it is filed is part of it."""
        folder = self.request.folder
        return shortened(f"{folder}/{found.name}" if folder else found.name)

    def digest_of(self, found: Found) -> str:
        """Return one hash over a file's bytes and all that decides what becomes of them.

        Shape: empty when it cannot be read; whoever reads it then says why.
        """
        said = json.dumps([reader_version(), self.request.defaults, found.name], sort_keys=True)
        try:
            with os.fdopen(os.open(found.path, FLAGS), "rb") as file:
                digest = hashlib.file_digest(file, "sha256")
        except OSError:
            return ""
        digest.update(said.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def unchanged(self, name: str, digest: str) -> tuple[str, ...]:
        """Return the ids that a file gave if neither it nor any of its items has changed since."""
        before, rows = self.known.get(name, ("", {}))
        same = bool(digest) and before == digest
        if same and all(self.versions.get(key) == number for key, number in rows.items()):
            return tuple(rows)
        return ()


def memory_of(request: ImportRequest, source: Source) -> Memory:
    """Return what is known of a source's files; needs the organization's context open.

    Cost: one statement for a source without files, else two.
    """
    files = ImportedFile.objects.filter(organization_id=request.organization_id, source=source)
    known = {
        name: (digest, rows) for name, digest, rows in files.values_list("name", "digest", "rows")
    }
    return Memory(request, source, known, _versions(source) if known else {})


def remember(memory: Memory, files: Sequence[Remembered], *, at: datetime) -> None:
    """Keep what these files gave, in the transaction that wrote the last of it.

    A file of which something is not there, as what staff have deleted, is parsed again next time.
    Cost: two statements.
    """
    if not files:
        return
    versions = _versions(memory.source, [key for file in files for key in file.ids])
    whole = [file for file in files if all(key in versions for key in file.ids)]
    ImportedFile.objects.bulk_create(
        (_row(memory, file, versions, at=at) for file in {f.name: f for f in whole}.values()),
        update_conflicts=True,
        unique_fields=["organization", "source", "name"],
        update_fields=["digest", "rows", "read_at"],
    )


def _row(
    memory: Memory, file: Remembered, versions: Mapping[str, int], *, at: datetime
) -> ImportedFile:
    return ImportedFile(
        organization_id=memory.request.organization_id,
        source=memory.source,
        name=file.name,
        digest=file.digest,
        rows={key: versions[key] for key in file.ids},
        read_at=at,
    )


def _versions(source: Source, ids: Iterable[str] | None = None) -> dict[str, int]:
    rows = Item.objects.filter(
        organization_id=source.organization_id, source=source, deleted_at=None
    )
    if ids is not None:
        rows = rows.filter(external_id__in=list(ids))
    return dict(rows.values_list("external_id", "lock_version"))


@cache
def reader_version() -> str:
    """Return one hash over everything that turns a file into text: another one reads files anew."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    digest.update(" ".join(map(_version, _LIBRARIES)).encode())
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
