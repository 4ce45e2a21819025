"""Folders, Git checkouts and exports on the server: only below the folders that operators name."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.conf import settings

from knowledge.ingestion.errors import FileMissing
from knowledge.ingestion.gathering import FileDone, Gathered
from knowledge.ingestion.importing import gathered
from knowledge.ingestion.running import Import
from knowledge.ingestion.sandbox import Sandbox
from knowledge.ingestion.walking import (
    Finding,
    NotFound,
    found_at,
    is_skipped,
    printable,
    walk,
)
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
    path = allowed_path(schedule)
    found = _checked_out(path) if schedule.kind == SyncKind.GIT else walk([str(path)])
    yield from gathered(running, found, sandbox)


def _checked_out(path: Path) -> Iterator[Finding]:
    for name in _tracked(path):
        place = path / name
        # A file that is tracked and not there is one that a pull is about to put there.
        if not os.path.lexists(place):
            yield NotFound(str(place), printable(name), FileMissing(), hides_others=True)
        elif not is_skipped(name) and place.resolve() == place:
            yield found_at(str(place), printable(name))


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
