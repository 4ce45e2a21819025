"""Names of currencies, units and months, from the Unicode CLDR through Babel."""

import re
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from babel import Locale, UnknownLocaleError
from babel.dates import format_date
from babel.numbers import format_decimal, get_currency_name
from babel.units import format_unit

_MANY = 100
# "1.250" and "1,250" are counted as more than a thousand, "0.250" is not.
_THOUSANDS = re.compile(r"([1-9]\d{0,2})[.,](\d{3})")


@lru_cache(maxsize=512)
def is_known(language: str) -> bool:
    """Whether the CLDR has names in this language."""
    try:
        Locale.parse(language)
    except (UnknownLocaleError, ValueError, TypeError):
        return False
    return True


def plural_category(amount: str, language: str) -> str:
    """The plural category that an amount takes: "one", "few", "other" and so on."""
    return str(Locale.parse(language).plural_form(_count(amount)))


@lru_cache(maxsize=512)
def day_comes_first(language: str, region: str) -> bool | None:
    """Whether a date in figures begins with the day; None when both orders are in use.

    Source: CLDR short date patterns. English without a region has no order of its own, and a
    place that writes the year first uses both orders beside it.
    """
    locale = _locale(language, region)
    if language == "en" and not locale.territory:
        return None
    letters = re.sub(r"[^ydM]", "", locale.date_formats["short"].pattern)
    if letters.startswith("y") or (region == "US" and letters.startswith("d")):
        return None
    return letters.startswith("d")


def _locale(language: str, region: str) -> Locale:
    for tag in (f"{language}_{region}", f"und_{region}"):
        try:
            found = Locale.parse(tag)
        except (UnknownLocaleError, ValueError):
            continue
        if found.territory == region:
            return found
    return Locale.parse(language)


@lru_cache(maxsize=2048)
def currency_name(code: str, amount: str, language: str) -> str:
    """What an amount of a currency is called: "1 euro", "5 euros"."""
    return str(get_currency_name(code, count=_count(amount), locale=language))


@lru_cache(maxsize=2048)
def with_unit(amount: str, unit: str, language: str) -> str:
    """The amount as written, with its unit spelled out around it.

    Source: CLDR unit patterns. Arabic leaves the number out of "one" and "two"; there the form
    for many is used, so that the number is always said.
    """
    for count in (_count(amount), Decimal(_MANY)):
        shown = format_decimal(count, locale=language)
        spelled = str(format_unit(count, unit, length="long", locale=language))
        if shown in spelled:
            return spelled.replace(shown, amount).replace("\u00a0", " ")
    return f"{amount} {unit.split('-')[-1]}"


def spoken_date(day: date, language: str, region: str) -> str:
    """A date with the month as a word, in the order of the language and region."""
    locale = f"en_{region}" if language == "en" and region in ("US", "GB", "AU") else language
    if language == "en" and locale == "en":
        locale = "en_GB"
    return str(format_date(day, format="long", locale=locale))


def _count(amount: str) -> Decimal:
    thousands = _THOUSANDS.fullmatch(amount)
    plain = "".join(thousands.groups()) if thousands else amount
    try:
        return Decimal(plain.replace(",", ".").replace("٫", "."))
    except InvalidOperation:
        return Decimal(_MANY)
