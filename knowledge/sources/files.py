"""Folders, Git checkouts and exports on the server: only below the folders that operators name."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from django.conf import settings

from knowledge.ingestion.gathering import FileDone, Gathered
from knowledge.ingestion.importing import gathered
from knowledge.ingestion.running import Import
from knowledge.ingestion.sandbox import Sandbox
from knowledge.ingestion.walking import walk
from knowledge.models import SourceSchedule, SyncKind
from knowledge.sources.errors import SourceMisconfigured

GIT_SECONDS: Final = 60
_ENDINGS: Final = {SyncKind.ZENDESK: ".json", SyncKind.INTERCOM: ".json", SyncKind.CSV: ".csv"}


def allowed_path(schedule: SourceSchedule) -> Path:
    """Return the path of a source, below its organization's own part of EARMARK_SOURCE_FOLDERS.

    Raises: SourceMisconfigured
    """
    said = schedule.config.get("path")
    if not isinstance(said, str) or not said:
        raise SourceMisconfigured('Say under "path" which folder or file it is.')
    path = Path(os.path.realpath(said))
    own = schedule.organization.slug
    roots = [Path(os.path.realpath(root)) / own for root in settings.SOURCE_FOLDERS]
    if not any(path.is_relative_to(root) for root in roots):
        raise SourceMisconfigured(
            f"The path is not below {own}/ in a folder of EARMARK_SOURCE_FOLDERS."
        )
    ending = _ENDINGS.get(SyncKind(schedule.kind))
    if not path.exists() or (ending and path.suffix.lower() != ending):
        raise SourceMisconfigured(f"There is no {ending or 'folder'} at that path.")
    return path


def gathered_files(
    running: Import, schedule: SourceSchedule, sandbox: Sandbox
) -> Iterator[Gathered | FileDone]:
    """Yield the rows of every file of the source.

    Raises: SourceMisconfigured
    """
    with _folder(schedule) as folder:
        yield from gathered(running, walk([str(folder)]), sandbox)


@contextmanager
def _folder(schedule: SourceSchedule) -> Iterator[Path]:
    path = allowed_path(schedule)
    if schedule.kind != SyncKind.GIT:
        yield path
        return
    with TemporaryDirectory() as copy:
        for name in _tracked(path):
            _copied(path, Path(copy), name)
        yield Path(copy)


def _tracked(path: Path) -> list[str]:
    # Of a repository's own settings only those that list files play a part.
    command = ["git", "-c", "core.fsmonitor=false", "-c", f"safe.directory={path}", "-C", str(path)]
    try:
        done = subprocess.run(  # noqa: S603
            [*command, "ls-files", "-z", "--", "*.md", "*.markdown"],
            capture_output=True,
            timeout=GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SourceMisconfigured("There is no Git checkout at that path.") from error
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def _copied(path: Path, copy: Path, name: str) -> None:
    source = path / name
    if source.is_symlink() or not source.is_file() or not source.resolve().is_relative_to(path):
        return
    place = copy / name
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)
