"""Text of office files in runs: raised and struck-out ones are treated as those of HTML are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from lxml import html

from knowledge.ingestion.readers.html_signs import drop_struck, part_digits

PLAIN: Final = "span"
RAISED: Final = "sup"
LOWERED: Final = "sub"
STRUCK: Final = "del"
# Signs that no XML may hold; some programs write them as line breaks.
CONTROLS: Final = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff\\ud800-\\udfff]")


def joined(runs: Iterable[tuple[str, str]]) -> str:
    """Return the text of runs, each with how it is written."""
    line = html.Element("p")
    for text, kind in runs:
        run = html.Element(kind)
        run.text = CONTROLS.sub("\n", text)
        line.append(run)
    drop_struck(line)
    part_digits(line)
    return str(line.text_content())
