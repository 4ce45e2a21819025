"""Words follow vectors to where a new release cuts passages: a position names the same slice for both.

A release that cuts otherwise changes no truth row, so nothing else would write its words again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

from knowledge.indexing.assets import Live, Piece
from knowledge.indexing.lexical import write_lexical_entries
from knowledge.models import Category, Instruction, Item, LexicalEntry

_Place = tuple[int, int, int]


def cut_otherwise(organization_id: int, cut: Iterable[tuple[Live, Sequence[Piece]]]) -> list[Live]:
    """Return those whose lexical entries lie elsewhere in the body than these pieces of it do.

    Cost: one statement.
    """
    wanted = {live.asset_id: (live, _places(pieces)) for live, pieces in cut}
    worded: dict[UUID, set[_Place]] = defaultdict(set)
    entries = LexicalEntry.objects.filter(
        organization_id=organization_id, asset_id__in=list(wanted)
    ).values_list("asset_id", "generation", "position", "start", "end")
    for asset_id, generation, position, start, end in entries:
        if generation == wanted[asset_id][0].generation:
            worded[asset_id].add((position, start, end))
    return [live for live, places in wanted.values() if worded[live.asset_id] != places]


def _places(pieces: Iterable[Piece]) -> set[_Place]:
    return {(each.position, each.start, each.end) for each in pieces if each.position >= 0}


def held_still(live: Sequence[Live]) -> set[UUID]:
    """Lock the truth rows of these; return those that nobody is writing.

    Before any index state is: whoever writes a row locks it first, then its words, then its state.
    Cost: one statement for each category that is there.
    """
    return {
        *_locked(Item, live, Category.KNOWLEDGE),
        *_locked(Instruction, live, Category.INSTRUCTION),
    }


def _locked(model: type[Item | Instruction], live: Sequence[Live], category: str) -> list[UUID]:
    generations = {one.asset_id: one.generation for one in live if one.category == category}
    if not generations:
        return []
    rows = model._default_manager.select_for_update(of=("self",), skip_locked=True, no_key=True)
    found = rows.filter(organization_id=live[0].organization_id, pk__in=generations).order_by("pk")
    now = found.values_list("pk", "generation")
    return [pk for pk, generation in now if generation == generations[pk]]


def write_words(live: Sequence[Live]) -> None:
    """Write the words of these again, in the transaction that replaces their vectors.

    Cost: two statements for each.
    """
    for one in live:
        write_lexical_entries(
            one.organization_id, one.category, one.asset_id, one.text, generation=one.generation
        )
