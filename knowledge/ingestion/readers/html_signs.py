"""What HTML says by the way it looks: text that is struck out, digits that are raised or lowered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

Element: TypeAlias = Any  # lxml has no types.

STRUCK: Final = "//del|//*[contains(@style, 'line-through')]"
STYLE: Final = "translate(@style, ' ', '')"
RAISED: Final = f"//sup|//msup/*[2]|//*[contains({STYLE}, 'vertical-align:super')]"
LOWERED: Final = f"//sub|//msub/*[2]|//*[contains({STYLE}, 'vertical-align:sub')]"
HIGH: Final = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
LOW: Final = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
NUMBER: Final = re.compile(r"[+−-]?\d+")
BRACKETS: Final = frozenset("[](){}")
# A note or a sentence that somebody made small is read as it is.
LONGEST: Final = 8


def drop_struck(tree: Element) -> None:
    """Leave out what is struck out: told aloud, an old price would be a price."""
    for struck in tree.xpath(STRUCK):
        if struck.getparent() is not None:
            struck.tail = f" {struck.tail or ''}"
            struck.drop_tree()


def part_digits(tree: Element) -> None:
    """Keep exponents, notes and cents apart from the number before them: 500 and its note are not 5001.

    They get a space as well as digits of their own, because search reads those as any other.
    """
    for path, digits in ((LOWERED, LOW), (RAISED, HIGH)):
        for element in tree.xpath(path):
            _part(element, digits)


def _part(element: Element, digits: Mapping[int, int]) -> None:
    said = element.text_content().strip()
    if len(said) <= LONGEST and BRACKETS.isdisjoint(said):
        for inner in element.iter():
            inner.text = _small(inner.text, digits)
            if inner is not element:
                inner.tail = _small(inner.tail, digits)
    if said[:1].isdecimal() and _last_sign_before(element).isdecimal():
        element.text = f" {element.text or ''}"
    if said[-1:].isdecimal() and (element.tail or "")[:1].isdecimal():
        element.tail = f" {element.tail}"


def _small(text: str | None, digits: Mapping[int, int]) -> str | None:
    return text and NUMBER.sub(lambda number: _ascii(number[0]).translate(digits), text)


def _ascii(number: str) -> str:
    return "".join(str(int(sign)) if sign.isdecimal() else sign for sign in number)


def _last_sign_before(element: Element) -> str:
    """Return the sign that stands before an element, in whatever other element it may be."""
    while element is not None:
        before = element.getprevious()
        element = element.getparent() if before is None else before
        if element is not None:
            text = element.text if before is None else before.tail or before.xpath("string()")
            if text:
                return str(text)[-1]
    return ""
