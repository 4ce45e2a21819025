"""No digit of a reply is lost or joined to another number, and no words run together."""

import re
import unicodedata
from decimal import Decimal

from babel.units import format_unit
from hypothesis import given, settings
from hypothesis import strategies as st

from earmark_worker.speech.currencies import CURRENCIES, SYMBOLS
from earmark_worker.speech.formatter import SpeechFormatter, format_text
from earmark_worker.speech.names import currency_name
from earmark_worker.speech.scales import CJK, LETTERS, WRITTEN, scale_of
from earmark_worker.speech.words import SPEECH_WORDS, UNITS

LANGUAGES = sorted(SPEECH_WORDS)
REGIONS = ["", "US", "GB", "CA", "AE", "MX", "CN", "HK", "JP", "IN", "DE", "NI"]
OTHER_CODES = ["TWD", "MOP", "NIO", "UYU", "CUP", "DOP"]
ALPHABETS = ["0123456789", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९", "０１２３４５６７８９"]
DIGITS = st.sampled_from(["0123456789"] * 4 + ALPHABETS)
AROUND = ["$", "US$", "A$", "HK$", "NZ$", "S$", "XY$", "€", "£", "¥", "￥", "₹", "₩", "AED ", "USD"]
AFTER = [
    "",
    "",
    "k",
    "K",
    "m",
    "M",
    "bn",
    "B",
    " mn",
    " Mio.",
    " Mrd.",
    "万",
    "億",
    "억",
    " million",
]
SIGNS = ["", "", "-", "−", "\u200e-", "~", "+", "("]
RANGES = ["-", "\u2011", "－", "–", " - ", " – ", "—", "~", "～", " to ", "\u200f-"]
SHAPES = [
    "{n}%", "{n} %", "{n}٪", "{n}％", "{n}\u200f%", "{n}°", "{n}°C", "{n} ℃", "{n}°F", "{n} km/h",
    "{n}m²", "{n} kg", "{n}GB", "{n} min", "#{n}", "{n})", "{n}.", "No. {n}", "v{n}", "{n}st",
    "AB-{n}", "AB{n}", "{n}AB", "1/{n}", "{n}:1", "code {n}", "{n}x", "x{n}", "{n} €", "{n}€",
    "{n} $", "{n} US$", "{n}¥", "{n} AED", "{n}AED", "{n} د.إ.\u200f", "{n}元", "{n}AM", "{n} pm",
]  # fmt: skip
WHOLE = [
    "9AM-5PM", "10PM", "9:30 am - 5 p.m.", "17:30", "10:00-12:00", "24/7", "1/2", "3-1", "2-3",
    "2.10", "v2.10.3", "1990-2000", "1990/91", "2024-25", "1990s", "21st", "1.º", "½", "2026-05",
    "+971 50 123 4567", "050-123-4567", "(050) 123-4567", "1-800-555-0199", "PPR-9087", "A380",
    "DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "AB12 3704 0044", "1 250 000 €",
    "AED 1 250", "25°12′30″N", "$5 USD", "USD $5", "$-5", "100元-200元", "5万元-10万元", "48213097",
    "1/2/2026", "5 $-10 $", "5% -10%", "12-34-56%", "5€50", "$5-10", "$1m-2m", "10k-15k AED", "$5each",
]  # fmt: skip
BETWEEN = [
    " ",
    ", ",
    "; ",
    ". ",
    " – ",
    "-",
    "\n",
    "/",
    " (",
    ") ",
    "\u200f ",
    "\u00a0",
    "",
    " of ",
]


def _values(text):
    return [str(unicodedata.decimal(char)) for char in text if char.isdecimal()]


@st.composite
def numbers(draw):
    plain = draw(
        st.one_of(
            st.integers(0, 10**8).map(str),
            st.integers(0, 99).map(str),
            st.integers(0, 9999).map(lambda n: f"{n / 10:.1f}"),
            st.integers(1000, 10**7).map(lambda n: f"{n:,}"),
            st.integers(1000, 10**7).map(lambda n: f"{n:,}.50"),
        )
    )
    marks = draw(st.sampled_from([(",", "."), (".", ","), ("\u202f", ","), ("'", "."), ("٬", "٫")]))
    alphabet = draw(DIGITS)
    swapped = {",": marks[0], ".": marks[1], **dict(zip("0123456789", alphabet, strict=True))}
    return "".join(swapped[char] for char in plain)


@st.composite
def facts(draw):
    kind = draw(st.sampled_from(["money", "shape", "range", "whole"]))
    number, sign = draw(numbers()), draw(st.sampled_from(SIGNS))
    if kind == "whole":
        return draw(st.sampled_from(WHOLE))
    if kind == "money":
        return f"{sign}{draw(st.sampled_from(AROUND))}{number}{draw(st.sampled_from(AFTER))}"
    shape = draw(st.sampled_from(SHAPES))
    if kind == "shape":
        return sign + shape.format(n=number)
    second = shape.format(n=draw(numbers()))
    return sign + shape.format(n=number) + draw(st.sampled_from(RANGES)) + second


@st.composite
def replies(draw):
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        parts += [draw(facts()), draw(st.sampled_from(BETWEEN))]
    return draw(st.sampled_from(LANGUAGES)), draw(st.sampled_from(REGIONS)), "".join(parts)


def _split(text):
    """The words of a text; letters of Han and single marks are no words of their own."""
    return re.findall(r"[^\W\d_\u3400-\u9fff]+", text)


def _vocabulary(language):
    words = SPEECH_WORDS[language]
    said = [getattr(words, name) for name in words.__dataclass_fields__]
    said = [word for word in said if isinstance(word, str)]
    for code in [*CURRENCIES, *SYMBOLS.values(), *OTHER_CODES]:
        said += [currency_name(code, count, language) for count in ("1", "2", "5", "50", "1000")]
    for unit in UNITS.values():
        said += [
            str(format_unit(Decimal(count), unit, length="long", locale=language))
            for count in ("1", "2", "5", "50", "1.5")
        ]
    for written in [*LETTERS, *WRITTEN, *CJK]:
        scale = scale_of(written, language)
        said += [form for form in (scale.other, scale.one, scale.few) if form] if scale else []
    return {word for text in [*said, "de d'"] for word in _split(text)}


VOCABULARY = {language: _vocabulary(language) for language in LANGUAGES}
MONTH_DATES = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")


@given(replies())
@settings(max_examples=500, deadline=None)
def test_no_words_run_together(reply):
    language, region, written = reply
    spoken = format_text(written, language, region=region)
    known = VOCABULARY[language] | set(_split(written))
    if not MONTH_DATES.search(written):
        assert [w for w in _split(spoken) if w not in known and len(w) > 1] == []
    for glued in re.findall(r"[^\W\d_\u3400-\u9fff]\d|\d[^\W\d_\u3400-\u9fff]", spoken):
        assert glued in written, (glued, spoken)


@given(replies())
@settings(max_examples=500, deadline=None)
def test_no_digit_is_lost_and_none_joins_another_number(reply):
    language, region, written = reply
    spoken = format_text(written, language, region=region)
    if MONTH_DATES.search(written):
        return
    assert _values(spoken) == _values(written)
    for before, after in zip(_gaps(written), _gaps(spoken), strict=True):
        assert not (_parts(before) and not _parts(after)), (before, after, spoken)


def _gaps(text):
    """What stands between one digit and the next."""
    return re.findall(r"(?<=\d)\D*(?=\d)", text)


def _parts(gap):
    return bool(re.search(r"[^\s.,'’٬٫\u200e\u200f\u061c]|[.,]\s|\n", gap))


@given(replies(), st.integers(1, 5))
@settings(max_examples=500, deadline=None)
def test_a_reply_in_pieces_is_spoken_as_the_whole(reply, size):
    language, region, written = reply
    formatter = SpeechFormatter(language, region=region)
    chunks = [written[i : i + size] for i in range(0, len(written), size)]
    assert "".join(map(formatter.feed, chunks)) + formatter.flush() == format_text(
        written, language, region=region
    )
