import re
import unicodedata
from datetime import date
from itertools import pairwise

from babel import Locale
from hypothesis import given, settings
from hypothesis import strategies as st

from earmark_worker.speech.currencies import CURRENCIES
from earmark_worker.speech.formatter import SpeechFormatter, format_text
from earmark_worker.speech.names import currency_name, with_unit
from earmark_worker.speech.words import SPEECH_WORDS, UNITS

LANGUAGES = sorted(SPEECH_WORDS)
PLAIN = {
    "en": ["refund", "takes", "please", "and", "your", "card", "is"],
    "ar": ["المبلغ", "طلبك", "و", "هو", "بطاقة"],
    "es": ["pedido", "tarjeta", "para", "tarda", "y"],
    "de": ["Karte", "dauert", "Bestellung", "und", "ist"],
    "fr": ["carte", "remboursement", "prend", "et"],
    "hi": ["आपका", "कार्ड", "है", "और"],
    "zh": ["您", "的", "卡", "退款", "需要"],
}
NUMBERS = st.one_of(
    st.integers(0, 10**16).map(str),
    st.integers(0, 9999).map(lambda n: f"{n}.5"),
    st.integers(1000, 9_999_999).map(lambda n: f"{n:,}"),
    st.integers(0, 999).map(lambda n: f"00{n}"),
)


def _digits(text):
    return "".join(
        str(unicodedata.decimal(c)) for c in text if unicodedata.decimal(c, None) is not None
    )


@st.composite
def facts(draw):
    """A sentence, and what must be heard: digits, units and negations in order."""
    language = draw(st.sampled_from(LANGUAGES))
    pieces, heard = [], []
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["word", "number", "unit", "currency", "percent", "not"]))
        number = draw(NUMBERS)
        if kind == "word":
            pieces.append(draw(st.sampled_from(PLAIN[language])))
        elif kind == "not":
            word = draw(st.sampled_from(sorted(SPEECH_WORDS[language].negations)))
            pieces.append(word)
            heard.append(("word", word))
        elif kind == "number":
            pieces.append(number)
            heard.append(("digits", _digits(number)))
        elif kind == "unit":
            unit = draw(st.sampled_from(sorted(UNITS)))
            small = str(draw(st.integers(3, 99)))
            pieces.append(small + draw(st.sampled_from(["", " "])) + unit)
            heard += [("exact", with_unit(small, UNITS[unit], language))]
        elif kind == "currency":
            code = draw(st.sampled_from(sorted(CURRENCIES)))
            small = str(draw(st.integers(3, 9999)))
            pieces.append(draw(st.sampled_from([f"{code} {small}", f"{small} {code}"])))
            heard += [("exact", f"{small} {currency_name(code, small, language)}")]
        else:
            small = str(draw(st.integers(3, 99)))
            pieces.append(f"{small}%")
            heard.append(("exact", SPEECH_WORDS[language].percent.format(small)))
    return language, "; ".join(pieces), heard


@given(facts())
@settings(max_examples=500, deadline=None)
def test_no_number_unit_or_negation_is_lost(case):
    language, written, heard = case
    rest = format_text(written, language)
    for kind, fact in heard:
        rest = _after(rest, kind, fact)


def _after(rest, kind, fact):
    if kind != "digits":
        assert fact in rest, (fact, rest)
        return rest[rest.index(fact) + len(fact) :]
    read = re.match(r"\D*?(" + r"[\s,.]*".join(fact) + ")", rest)
    assert read, (fact, rest)
    return rest[read.end() :]


@given(facts())
@settings(max_examples=300, deadline=None)
def test_the_digits_of_a_reply_are_heard_in_their_order(case):
    language, written, _ = case
    assert _digits(format_text(written, language)) == _digits(written)


@st.composite
def chunked(draw):
    alphabet = st.one_of(
        st.sampled_from(list("0123456789 ..,-+/:%$€@?!\nABFQkg月日年号是不的，。٣५")),
        st.characters(codec="utf-8"),
    )
    language, written, _ = draw(facts())
    text = written + draw(st.text(alphabet=alphabet, max_size=60)) + written
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    edges = [0, *cuts, len(text)]
    return language, text, [text[a:b] for a, b in pairwise(edges)]


@given(chunked())
@settings(max_examples=500, deadline=None)
def test_any_chunking_gives_the_same_speech(case):
    language, text, chunks = case
    formatter = SpeechFormatter(language)
    streamed = "".join(formatter.feed(chunk) for chunk in chunks) + formatter.flush()
    assert streamed == format_text(text, language)


@given(st.dates(min_value=date(1950, 1, 1)), st.sampled_from(LANGUAGES))
@settings(max_examples=200, deadline=None)
def test_a_date_is_read_back_as_the_same_day(day, language):
    spoken = format_text(day.isoformat(), language)
    months = Locale(language).months["format"]["wide"]
    numbers = [int(n) for n in re.findall(r"\d+", spoken)]
    assert {day.day, day.year} <= set(numbers)
    assert language == "zh" or months[day.month] in spoken
    assert language != "zh" or numbers == [day.year, day.month, day.day]


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz '", max_size=200))
def test_plain_words_are_never_changed(text):
    assert format_text(text, "en") == text
