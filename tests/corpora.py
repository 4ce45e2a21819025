"""Real texts that nobody here wrote: the sets beside the checkout, or the articles of the demo."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from config.private import ROOT

SETS: Final = Path(os.environ.get("EVALS") or ROOT.parent / "shared" / "evals")
ARTICLES: Final = ROOT / "demo" / "articles"
_KEPT: Final = ("id", "title", "text", "lang", "folder")


@dataclass(frozen=True)
class Corpus:
    """Documents as rows of an import."""

    name: str
    rows: tuple[dict[str, Any], ...]

    def every(self, step: int) -> Corpus:
        return Corpus(self.name, self.rows[::step])

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.name}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in self.rows))
        return path


def corpora() -> list[Corpus]:
    """Every corpus once, though several sets share one."""
    found = {sha256(path.read_bytes()).digest(): path for path in sorted(_files())}
    sets = [Corpus(path.parent.name, tuple(_rows(path))) for path in found.values()]
    return sets or [Corpus("demo", tuple(_articles()))]


def _files() -> list[Path]:
    return list(SETS.glob("*/corpus.jsonl"))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        said = json.loads(line)
        yield {key: said[key] for key in _KEPT if said.get(key) is not None}


def _articles() -> Iterator[dict[str, Any]]:
    for path in sorted(ARTICLES.rglob("*.md")):
        yield {"id": path.stem, "title": path.stem, "text": path.read_text("utf-8")}
