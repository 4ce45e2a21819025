"""Values of cells as their number formats show them; dates and times are written the ISO way."""

from __future__ import annotations

import re
from calendar import day_name, month_name
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from functools import lru_cache
from typing import Any, Final

GENERAL: Final = "General"
TOKEN: Final = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|(?P<condition>\[[<>=][^\]]*\])|\[[^\]]*\]|(?P<percent>%)"
    r"|(?P<digits>General|[#0?][#0?,]*(?:\.[#0?]*)?,*|\.[#0?]+)|(?P<sign>.)",
    re.S | re.I,
)
WORDS: Final = ("quoted", "escaped", "currency", "percent", "sign")
# What of the format of a moment stands for no part of it.
AROUND: Final = re.compile(r'"[^"]*"|\\.|[_*].|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.I)
# The number of a day, not its name.
DAY: Final = re.compile("(?<!d)dd?(?!d)")
# More than any number of a workbook has.
PRECISION: Final = 400


@dataclass
class Section:
    """One of the forms of a format: the digits, and what stands around them."""

    before: str = ""
    digits: str = ""
    after: str = ""
    percents: int = 0
    # A fraction, a power of ten, a telephone number, a condition: the number itself says it better.
    is_other: bool = False

    def add(self, token: re.Match[str]) -> None:
        """Take in the next part of the form."""
        text = next((token[word] for word in WORDS if token[word]), "")
        self.percents += bool(token["percent"])
        self.is_other |= bool(token["condition"] or token["sign"] == "@")
        self.is_other |= bool(token["digits"] and self.digits)
        if token["digits"]:
            self.digits = token["digits"]
        elif self.digits:
            self.after += text
        else:
            self.before += text


def shown(value: Any, number_format: str | None) -> str:
    """Return what a cell of this value and format shows."""
    form = number_format or GENERAL
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return _number(value, form)
    if isinstance(value, datetime | date | time | timedelta):
        return _moment(value, AROUND.sub("", form.partition(";")[0]).lower())
    return "" if value is None else str(value)


def _number(value: float, form: str) -> str:
    sections = _sections(form)
    chosen = _chosen(sections, value)
    try:
        digits = _general(value) if chosen.is_other else _digits(value, chosen)
    except InvalidOperation:
        return str(value)
    text = digits if chosen.is_other else chosen.before + digits + chosen.after
    # Some forms of what is below zero are red and nothing else.
    is_told = chosen is not sections[0] and not {"-", "("}.isdisjoint(chosen.before)
    return f"-{text}" if value < 0 and text and not is_told else text


@lru_cache(maxsize=1_024)
def _sections(form: str) -> list[Section]:
    sections = [Section()]
    for token in TOKEN.finditer(form):
        if token["sign"] == ";":
            sections.append(Section())
        else:
            sections[-1].add(token)
    return sections


def _chosen(sections: Sequence[Section], value: float) -> Section:
    if any(each.is_other for each in sections[:3]):
        return Section(is_other=True)
    if value < 0 and len(sections) > 1:
        return sections[1]
    return sections[2] if value == 0 and len(sections) > 2 else sections[0]


def _general(value: Any) -> str:
    return f"{abs(value):.15g}" if isinstance(value, float) else str(abs(value))


def _digits(value: float, section: Section) -> str:
    if section.digits.lower() in {"", GENERAL.lower()}:
        return _general(value) if section.digits else ""
    # A comma behind the digits leaves out three of them.
    form = section.digits.rstrip(",")
    whole, _, part = form.partition(".")
    with localcontext(prec=PRECISION):
        number = abs(Decimal(repr(value))).scaleb(2 * section.percents)
        number = number.scaleb(-3 * (len(section.digits) - len(form)))
        number = number.quantize(Decimal(1).scaleb(-len(part)), ROUND_HALF_UP)
    head, _, tail = (f"{number:,f}" if "," in whole else f"{number:f}").partition(".")
    least = part.rfind("0") + 1
    tail = tail[:least] + tail[least:].rstrip("0")
    head = head.zfill(whole.count("0")) if "0" in whole or head != "0" else ""
    return f"{head}.{tail}" if tail else head


def _moment(value: datetime | date | time | timedelta, form: str) -> str:
    if isinstance(value, timedelta):
        minutes, seconds = divmod(int(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if "s" in form else "")
    if form == GENERAL.lower():
        return str(value).removesuffix(" 00:00:00")
    is_timed = "h" in form or "s" in form
    clock = "%H:%M:%S" if "s" in form else "%H:%M"
    if isinstance(value, time):
        return value.strftime(clock) if is_timed else value.isoformat()
    is_dated = not is_timed or "y" in form or "d" in form
    parts = (_date(value, form) if is_dated else "", value.strftime(clock) if is_timed else "")
    return " ".join(filter(None, parts))


def _date(value: date, form: str) -> str:
    if "y" in form and "d" not in form:
        return value.strftime("%Y-%m" if "m" in form else "%Y")
    if "y" not in form and not DAY.search(form):
        if "d" in form and "m" not in form:
            return day_name[value.weekday()]
        if "d" not in form and "m" in form:
            return month_name[value.month]
    return value.strftime("%Y-%m-%d")
