"""The text of a truth row as the index sees it; both legs are built from this one value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from knowledge.folders import leaf, parent
from knowledge.models import Instruction, Item, ItemKind
from knowledge.passages import Passage, passages
from knowledge.text.languages import guess_language
from knowledge.text.normalising import clean, fingerprint

# The columns of a truth row that say something; what it is filed in says the rest.
WORDS: Final = frozenset({"title", "body", "language", "phrasings"})
_LONGEST_TITLE: Final[int] = Item._meta.get_field("title").max_length or 0


@dataclass(frozen=True)
class AssetText:
    """What of a truth row is matched; any change of it is a new generation."""

    title: str
    body: str
    container: str
    language: str
    phrasings: tuple[str, ...] = ()
    # Whether a query that is asked just like the title or a phrasing is certainly meant.
    is_answer: bool = False

    @property
    def content_hash(self) -> str:
        """Return one hash over everything that is matched: another one exactly when a part is another."""
        return hashlib.sha256(json.dumps(self._parts).encode()).hexdigest()

    @property
    def _parts(self) -> tuple[str, ...]:
        return (self.title, self.body, self.container, self.language, *self.phrasings)

    def is_what_was_indexed(self, content_hash: str, *, changed: Collection[str] = ()) -> bool:
        """Whether the hash stored with a row, before these columns changed, is of this text."""
        if content_hash == self.content_hash:
            return True
        # Rows from before this hash keep the one they have until somebody changes what they say
        # (docs/decisions/0009-stored-text.md): an upgrade indexes nothing again.
        return WORDS.isdisjoint(changed) and content_hash == self._former_hash

    @property
    def _former_hash(self) -> str | None:
        # It was blind to what `clean` takes out, so it says nothing about a text that still holds that.
        if any(clean(part) != part for part in self._parts):
            return None
        return fingerprint("\x1f".join(self._parts))

    def passages(self) -> tuple[Passage, ...]:
        """Return the slices of the body that are searched and served."""
        return passages(self.body, title=self.title, folder_leaf=self.container)


def as_stored(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns of a truth row with their texts as they are stored.

    What is cut, indexed and served is a slice of just these characters.
    """
    stored = dict(columns)
    if "body" in stored:
        stored["body"] = clean(stored["body"])
    if "title" in stored:
        # The canonical form of a few letters is longer, and may not be longer than its column.
        room = max(_LONGEST_TITLE, len(stored["title"]))
        stored["title"] = clean(stored["title"])[:room]
    if "phrasings" in stored:
        stored["phrasings"] = [clean(phrasing) for phrasing in stored["phrasings"]]
    return stored


def text_of_item(item: Item) -> AssetText:
    """Return what of an item is matched; the root folder of a source says nothing about it."""
    container = leaf(item.folder_key) if parent(item.folder_key) else ""
    return AssetText(
        title=item.title,
        body=item.body,
        container=container,
        language=_language(item.language, item.body),
        phrasings=tuple(item.phrasings),
        is_answer=item.kind == ItemKind.GOLDEN,
    )


def text_of_instruction(instruction: Instruction) -> AssetText:
    """Return what of an instruction is matched.

    Cost: one statement when the directory is not loaded.
    """
    container = instruction.directory.name if instruction.directory else ""
    language = _language(instruction.language, instruction.body)
    return AssetText(instruction.title, instruction.body, container, language)


def _language(label: str, body: str) -> str:
    return label.partition("-")[0].lower() or guess_language(body) or ""
