"""Where the overlap of a passage with the one before it begins."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.text.blocks import Kind
from knowledge.text.sentences import sentence_ends, word_ends
from knowledge.text.units import Unit

# A heading starts afresh, and a table's part repeats its header row instead.
ALONE = frozenset({Kind.HEADING, Kind.ROW})


def overlap_start(body: str, first: Unit, before: Sequence[Unit], overlap: int) -> int:
    """Return where a passage that begins with `first` starts to repeat what stands before it.

    Shape: never across a heading or inside a list item; at a sentence if there is one.
    Units: `overlap` is the most characters repeated.
    """
    start, floor = first.start, first.start - overlap
    if first.block.kind in ALONE:
        return start
    for unit in reversed(before):
        if unit.block.section != first.block.section or unit.block.kind in ALONE:
            return start
        if unit.start < floor:
            cut = start == first.start and unit.block.kind is Kind.PROSE
            return _inside(body, unit, floor) if cut else start
        start = unit.start
    return start


def _inside(body: str, unit: Unit, floor: int) -> int:
    text = body[unit.start : unit.end]
    for ends in (sentence_ends(text), word_ends(text)):
        for end in ends[:-1]:
            if unit.start + end >= floor:
                return unit.start + end
    return unit.end
