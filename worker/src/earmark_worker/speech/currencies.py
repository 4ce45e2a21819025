"""Which currency a sign means, for the language and the region of a call.

Source: Unicode CLDR, currency symbols (common/main/*.xml): "$" is the peso where the peso is the
money of the region, "¥" is the yuan in Chinese and the yen in Japanese.
"""

from functools import lru_cache

from earmark_worker.languages.folding import is_han
from earmark_worker.speech.names import currency_name
from earmark_worker.speech.voices import Voice
from earmark_worker.speech.words import speech_words

DOLLAR = "$"
_COUNTS = ("1", "2", "5", "50", "100")
_NOUN_COMES_LAST = frozenset({"en", "de", "hi"})
_HAN_MONEY = frozenset("元圆圓块塊円")
_OTHER_WORDS = frozenset({"won", "real", "sol", "livre", "livres", "corona"})
_LONGEST_NAME = 40
_AROUND_WORDS = ".,;:!?()[]\"'«»“”،؛؟।"
_YEN_OR_YUAN = "¥￥"

SYMBOLS: dict[str, str] = {
    "€": "EUR",
    "£": "GBP",
    "₹": "INR",
    "₺": "TRY",
    "₩": "KRW",
    "₽": "RUB",
    "د.إ": "AED",
    "ر.س": "SAR",
}

_CODES = (
    "AED SAR QAR KWD BHD OMR EGP JOD USD EUR GBP CHF INR PKR CNY JPY HKD SGD AUD CAD NZD ZAR TRY "
    "MXN COP ARS CLP BRL PEN MAD TND DZD SEK NOK DKK PLN CZK KRW THB"
)
CURRENCIES = frozenset(_CODES.split())

SIGNS = (DOLLAR, *_YEN_OR_YUAN, *SYMBOLS)

_DOLLARS: dict[str, str] = {
    "US": "USD",
    "A": "AUD",
    "AU": "AUD",
    "C": "CAD",
    "CA": "CAD",
    "HK": "HKD",
    "NZ": "NZD",
    "S": "SGD",
    "SG": "SGD",
    "MX": "MXN",
    "NT": "TWD",
    "R": "BRL",
}
_PESOS = {
    "MX": "MXN",
    "AR": "ARS",
    "CO": "COP",
    "CL": "CLP",
    "UY": "UYU",
    "CU": "CUP",
    "DO": "DOP",
}
# The plain word for "$" is the American dollar in Chinese, so the dollars of these say their name.
_DOLLARS_IN_CHINESE = {"HK": "HKD", "TW": "TWD", "SG": "SGD", "MO": "MOP"}
_CHINESE_WITH_OTHER_MONEY = frozenset({"HK", "TW", "MO"})
_YEN_OR_YUAN_OF_REGION = {"CN": "CNY", "JP": "JPY"}


def currency_of(sign: str, voice: Voice) -> str | None:
    """The code of a sign or code, "$" for the dollar without a country, None when it is open."""
    if sign in _YEN_OR_YUAN:
        return _yen_or_yuan(voice)
    if sign == DOLLAR:
        return _plain_dollar(voice)
    if sign.endswith(DOLLAR):
        return _prefixed(sign.removesuffix(DOLLAR), voice)
    return SYMBOLS.get(sign, sign)


def begins_with_money(after: str, voice: Voice) -> bool:
    """Whether the text after a number begins with what money is called: " euros", "元"."""
    words = after[:_LONGEST_NAME].split()
    if not words or not (after[0].isspace() or is_han(after[0])):
        return False
    names = _money_words(voice.language)
    if is_han(words[0][0]):
        return words[0].startswith(tuple(names))
    # "US dollars", "Saudi riyals": a name in front, then the word for the money.
    near = words[:2] if words[0][0].isupper() else words[:1]
    return any(word.strip(_AROUND_WORDS).lower() in names for word in near)


@lru_cache(maxsize=64)
def _money_words(language: str) -> frozenset[str]:
    words = speech_words(language)
    names = [words.dollar, words.dollars]
    for code in CURRENCIES:
        names += [currency_name(code, count, language) for count in _COUNTS]
    noun = -1 if language in _NOUN_COMES_LAST else 0
    return frozenset(name.split()[noun].lower() for name in names) - _OTHER_WORDS | _HAN_MONEY


def _yen_or_yuan(voice: Voice) -> str | None:
    if voice.region in _YEN_OR_YUAN_OF_REGION:
        return _YEN_OR_YUAN_OF_REGION[voice.region]
    if voice.language == "zh":
        return None if voice.region in _CHINESE_WITH_OTHER_MONEY else "CNY"
    return "JPY" if voice.language == "ja" else None


def _plain_dollar(voice: Voice) -> str | None:
    if voice.region in _PESOS:
        return _PESOS[voice.region]
    if voice.language == "es" and not voice.region:
        return None
    in_chinese = _DOLLARS_IN_CHINESE if voice.language == "zh" else {}
    return in_chinese.get(voice.region, DOLLAR)


def _prefixed(country: str, voice: Voice) -> str | None:
    # In Nicaragua C$ is the córdoba.
    return "NIO" if (country, voice.region) == ("C", "NI") else _DOLLARS.get(country)
