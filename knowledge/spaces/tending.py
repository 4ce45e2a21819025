"""What is done about spaces in the background: fill what is kept, delete what is dropped."""

from __future__ import annotations

from collections.abc import Callable

from knowledge.indexing.filling import Filler
from knowledge.spaces.dropping import drop_waiting


def tend_spaces(filler: Filler, goes_on: Callable[[], bool]) -> int:
    """Fill for a while, then delete what is being dropped; return how many rows were worked on.

    Cost: one statement for each space when there is nothing to do.
    """
    return filler.run(goes_on) + drop_waiting()
