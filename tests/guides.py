"""The commands that the documentation tells people to run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from config.private import ROOT

_BLOCK = re.compile(r"^```sh(?: guide=([\w-]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"python manage\.py ([^|>;)\n]+)")


def blocks() -> list[tuple[Path, str, str]]:
    """Return every shell block of the documentation: its page, the guide it belongs to, its text."""
    pages = sorted((ROOT / "docs").glob("*.md"))
    return [
        (page, found[1] or "", found[2])
        for page in pages
        for found in _BLOCK.finditer(page.read_text("utf-8"))
    ]


def guide(name: str) -> str:
    """Return the commands of one guide."""
    return next(text for _, guide, text in blocks() if guide == name)


def commands() -> list[tuple[str, list[str]]]:
    """Return every `manage.py` command that is told anywhere, as page and words."""
    return [
        (page.name, shlex.split(found[1], comments=True))
        for page, _, text in blocks()
        for found in _COMMAND.finditer(text)
    ]
