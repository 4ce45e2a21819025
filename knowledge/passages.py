"""Cuts a body into the passages that are indexed, embedded and served."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from knowledge.text.blocks import Kind
from knowledge.text.overlap import overlap_start
from knowledge.text.units import Room, TokenCounter, Unit, estimated_tokens, in_word, units

CHUNKER_VERSION = "1"


@dataclass(frozen=True, slots=True)
class PassagePolicy:
    """How long passages are.

    Units: characters, but `most_tokens`, which counts heading, overlap and body together.
    """

    target: int = 1_000
    overlap: int = 150
    # A heading opens a new passage only when the one before has something to say.
    least: int = 200
    # The local embedder averages text of more than 512 tokens into one vector.
    most_tokens: int = 480
    count: TokenCounter = estimated_tokens

    @property
    def lead(self) -> int:
        """Tokens kept free for the heading, and as many for a table's header row."""
        return self.most_tokens // 8

    @property
    def room(self) -> Room:
        """What is left for the body."""
        return Room(self.target, max(1, self.most_tokens - 2 * self.lead), self.count)


STANDARD = PassagePolicy()


@dataclass(frozen=True, slots=True)
class Passage:
    """A slice of a body; the cores [start, end) of all its passages join up to the body."""

    position: int
    start: int
    end: int
    context_start: int
    section: tuple[str, ...] = ()
    heading: str = ""
    table_header: str = ""

    def text(self, body: str) -> str:
        """Return the passage's own part of the body."""
        return body[self.start : self.end]

    def indexed_text(self, body: str) -> str:
        """Return what is embedded and tokenised: where the passage stands, then its words."""
        parts = (self.heading, self.table_header, body[self.context_start : self.end].strip())
        return "\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class _Cut:
    body: str
    folder_leaf: str
    title: str
    limits: PassagePolicy
    room: Room


def passages(
    body: str, title: str = "", folder_leaf: str = "", limits: PassagePolicy = STANDARD
) -> tuple[Passage, ...]:
    """Return the passages of a body, in order; a body of blanks has none.

    Cost: linear, about a second for a megabyte.
    """
    if not body.strip():
        return ()
    cut = _Cut(body, folder_leaf, title, limits, limits.room)
    packed = _without_crumbs(cut, _packed(cut, _groups(cut, units(body, cut.room))))
    return tuple(
        _passage(cut, position, held, packed[position - 1] if position else [])
        for position, held in enumerate(packed)
    )


def _groups(cut: _Cut, found: Iterable[Unit]) -> Iterator[list[Unit]]:
    # A heading, a label or a table's first row stays with what it announces.
    group: list[Unit] = []
    for unit in found:
        if group and not _fit(cut, group, [unit]):
            yield group
            group = []
        group.append(unit)
        if not unit.announces:
            yield group
            group = []
    if group:
        yield group


def _tokens(held: Sequence[Unit]) -> int:
    return sum([unit.tokens for unit in held])


def _packed(cut: _Cut, groups: Iterable[list[Unit]]) -> list[list[Unit]]:
    packed: list[list[Unit]] = []
    for group in groups:
        if packed and _joins(cut, packed[-1], group):
            packed[-1].extend(group)
        else:
            packed.append(group)
    return packed


def _joins(cut: _Cut, held: Sequence[Unit], group: Sequence[Unit]) -> bool:
    if _is_blank(cut, held) or _is_blank(cut, group):
        return True
    if not _fit(cut, held, group):
        return False
    if group[0].block.kind is Kind.HEADING and _size(held) >= cut.limits.least:
        return False
    return group[-1].end - held[0].start <= cut.limits.target


def _fit(cut: _Cut, held: Sequence[Unit], group: Sequence[Unit]) -> bool:
    tokens, border = _tokens(held) + _tokens(group), group[0].start
    if tokens <= cut.room.tokens and all(map(in_word, cut.body[border - 1 : border + 1])):
        # The halves of a long word cost more together than apart.
        tokens = cut.limits.count(cut.body[held[0].start : group[-1].end])
    return tokens <= cut.room.tokens


def _is_blank(cut: _Cut, held: Sequence[Unit]) -> bool:
    return cut.body[held[0].start : held[-1].end].isspace()


def _size(held: Sequence[Unit]) -> int:
    return held[-1].end - held[0].start


def _without_crumbs(cut: _Cut, packed: Iterable[list[Unit]]) -> list[list[Unit]]:
    kept: list[list[Unit]] = []
    for held in packed:
        if kept and _is_crumb(cut, kept[-1], held):
            kept[-1].extend(held)
        else:
            kept.append(held)
    return kept


def _is_crumb(cut: _Cut, before: Sequence[Unit], held: Sequence[Unit]) -> bool:
    small = _size(held) < cut.limits.least // 2 and held[0].block.kind is not Kind.HEADING
    longest = cut.limits.target + cut.limits.overlap
    return small and _size(before) + _size(held) <= longest and _fit(cut, before, held)


def _passage(cut: _Cut, position: int, held: Sequence[Unit], before: Sequence[Unit]) -> Passage:
    section = _main_section(held)
    header = held[0].block.header if held[0].block.kind is Kind.ROW else ""
    whole = Passage(
        position=position,
        start=held[0].start,
        end=held[-1].end,
        context_start=overlap_start(cut.body, held[0], before, cut.limits.overlap),
        section=section,
        heading=_shortened(_heading(cut, section), cut.limits),
        table_header=_shortened(header, cut.limits),
    )
    if cut.limits.count(whole.indexed_text(cut.body)) <= cut.limits.most_tokens:
        return whole
    return replace(whole, context_start=whole.start)


def _main_section(held: Sequence[Unit]) -> tuple[str, ...]:
    sizes: Counter[tuple[str, ...]] = Counter()
    for unit in held:
        sizes[unit.block.section] += unit.size
    return sizes.most_common(1)[0][0]


def _heading(cut: _Cut, section: Sequence[str]) -> str:
    names: list[str] = []
    for name in (cut.folder_leaf, cut.title, *section):
        tidy = " ".join(name.split())
        if tidy and tidy.casefold() not in {known.casefold() for known in names}:
            names.append(tidy)
    return " > ".join(names)


def _shortened(text: str, limits: PassagePolicy) -> str:
    while text and limits.count(text) > limits.lead:
        text = text[: len(text) * 3 // 4].rstrip()
    return text
