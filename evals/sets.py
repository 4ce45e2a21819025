"""Sets as they lie in a folder: documents, questions, and the ways in which a question can be asked."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

# Folder names that say where a passage was taken from, not what it is about: they help nobody.
_ORIGINS = frozenset({"xquad", "distractor"})
NATIVE = "native"


@dataclass(frozen=True)
class Document:
    """A document of a set's corpus; `phrasings` make it a golden answer."""

    id: str
    title: str
    text: str
    language: str
    folder: str
    golden: bool
    phrasings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question with what answers it; nothing does when it is out of scope."""

    id: str
    language: str
    kind: str
    relevant: frozenset[str]
    siblings: frozenset[str]
    slices: tuple[str, ...]
    ways: dict[str, tuple[str, ...]] = field(hash=False)

    @property
    def in_scope(self) -> bool:
        """Whether something in the corpus answers it."""
        return bool(self.relevant)


@dataclass(frozen=True)
class Asked:
    """What came back for one question asked in one way.

    Shape: ranking holds documents, best first; relevance is the first one's.
    """

    question: Question
    way: str
    ranking: tuple[str, ...]
    answered: bool
    relevance: float


@dataclass(frozen=True)
class View:
    """A corpus and the questions that are asked of it; most sets have one."""

    documents: tuple[Document, ...]
    questions: tuple[Question, ...]

    @cached_property
    def corpus_digest(self) -> str:
        """One hash over the corpus; sets that share a corpus share its database."""
        return _digest(repr(document) for document in self.documents)


@dataclass(frozen=True)
class EvalSet:
    """One folder."""

    name: str
    views: tuple[View, ...]

    @cached_property
    def questions_digest(self) -> str:
        """One hash over the questions."""
        return _digest(f"{q.id} {q.ways}" for view in self.views for q in view.questions)

    @property
    def main_way(self) -> str:
        """How an agent asks: the richest way that needs no translator's hand."""
        ways = {way for view in self.views for q in view.questions for way in q.ways}
        return next((way for way in ("context", "english_mt") if way in ways), NATIVE)


def names_in(folder: Path) -> list[str]:
    """Return the sets of a folder."""
    return sorted(path.parent.name for path in folder.glob("*/corpus.jsonl"))


def read_set(folder: Path, name: str, *, sample: int = 0) -> EvalSet:
    """Read one set.

    Units: `sample` is the most questions of a language and slice, chosen by hash; 0 takes all.
    """
    rows = list(_lines(folder / name / "corpus.jsonl"))
    asked = _sampled(list(_lines(folder / name / "queries.jsonl")), sample)
    golden = name.startswith("golden") or any("golden_variants" in row for row in rows)
    titled = [_document(row, golden=golden, titled=True) for row in rows]
    if not any("orig_title" in row for row in rows):
        return EvalSet(name, (View(tuple(titled), _questions(asked)),))
    untitled = [_document(row, golden=golden, titled=False) for row in rows]
    hidden = [row for row in asked if row.get("style") == "title"]
    rest = [row for row in asked if row.get("style") != "title"]
    views = (View(tuple(titled), _questions(rest)), View(tuple(untitled), _questions(hidden)))
    return EvalSet(name, tuple(view for view in views if view.questions))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _document(row: dict[str, Any], *, golden: bool, titled: bool) -> Document:
    title = row["title"] or (row.get("orig_title", "") if titled else "")
    variants = [text for text in row.get("golden_variants", ()) if text != title]
    folder = row.get("folder", "")
    return Document(
        id=row["id"],
        title=title,
        text=row["text"],
        language=row["lang"],
        folder="" if folder in _ORIGINS else folder,
        golden=golden,
        phrasings=tuple(variants),
    )


def _sampled(rows: list[dict[str, Any]], sample: int) -> list[dict[str, Any]]:
    if not sample:
        return rows
    groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: hashlib.sha256(row["id"].encode()).digest()):
        groups[row["lang"], row["kind"], row.get("style"), row.get("noise")].append(row)
    chosen = {row["id"] for group in groups.values() for row in group[:sample]}
    return [row for row in rows if row["id"] in chosen]


def _questions(rows: Iterable[dict[str, Any]]) -> tuple[Question, ...]:
    return tuple(
        Question(
            id=row["id"],
            language=row["lang"],
            kind=row["kind"],
            relevant=frozenset(row["relevant"]),
            siblings=frozenset(row.get("siblings", ())),
            slices=_slices(row),
            ways=_ways(row),
        )
        for row in rows
    )


def _slices(row: dict[str, Any]) -> tuple[str, ...]:
    named = [row.get("style"), row.get("noise"), row.get("oos_type", "").split(" (")[0]]
    named += [row["kind"]] if row["kind"] in {"near_duplicate", "follow_up"} else []
    return tuple(name for name in named if name)


def _ways(row: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the queries of each way; a way that would repeat the native one is left out."""
    text = row["text"]
    ways: dict[str, tuple[str, ...]] = {NATIVE: (text,)}
    for variant in ("english_mt", "english_human"):
        if row.get(variant) and row["lang"] != "en":
            ways[variant] = (text, row[variant])
    if "context" in row:
        ways["context"] = tuple(dict.fromkeys(_in_context(text, row["context"])))
    return ways


def _in_context(text: str, turns: Sequence[dict[str, str]]) -> list[str]:
    said = [turn["text"] for turn in turns if turn["speaker"] == "user"]
    if not said:
        return [text]
    return [text, f"{said[-1]} {text}", f"{said[0]} {text}"]


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()[:12]
