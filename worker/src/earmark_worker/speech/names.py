"""Names of currencies, units and months, from the Unicode CLDR through Babel."""

from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from babel.dates import format_date
from babel.numbers import format_decimal, get_currency_name
from babel.units import format_unit

_MANY = 100


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
    try:
        return Decimal(amount.replace(",", "."))
    except InvalidOperation:
        return Decimal(_MANY)
