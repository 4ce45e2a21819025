"""The text of a truth row as the index sees it; both legs are built from this one value."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.folders import leaf, parent
from knowledge.models import Instruction, Item, ItemKind
from knowledge.passages import Passage, passages
from knowledge.text.languages import guess_language
from knowledge.text.normalising import fingerprint

# Parts of a fingerprint are joined by a character that clean text never holds.
_BORDER = "\x1f"


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
        """Return one hash over everything that is matched."""
        parts = (self.title, self.body, self.container, self.language, *self.phrasings)
        return fingerprint(_BORDER.join(parts))

    def passages(self) -> tuple[Passage, ...]:
        """Return the slices of the body that are searched and served."""
        return passages(self.body, title=self.title, folder_leaf=self.container)


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
