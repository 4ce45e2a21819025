import asyncio
import re
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from earmark_worker.languages.number_words import NUMBER_WORDS
from earmark_worker.redaction import redact
from tests.fakes.backend import FakeBackend, a_conversation, view_of

ZEROES = "0٠۰०০੦૦୦௦౦೦൦๐０𝟎"
SEPARATORS = st.sampled_from([" ", "-", "  ", " - ", "–", ".", ", ", "\u00a0", "\u200f", "\n", "/"])
FILLERS = [
    "refund",
    "please",
    "my card",
    "الرقم هو",
    "el número",
    "bitte",
    "मेरा",
    "我的卡是",
    "?",
    "!",
]
MARKER = re.compile(r"\[\d{1,3}-digit structured value\]")
RUN = re.compile(r"(?:\d[\s\-–.,/\u200f]*){4,}")


@st.composite
def digit_runs(draw):
    zero = draw(st.sampled_from(ZEROES))
    size = draw(st.integers(4, 16))
    digits = [chr(ord(zero) + draw(st.integers(0, 9))) for _ in range(size)]
    joined = digits[0]
    for digit in digits[1:]:
        joined += (draw(SEPARATORS) if draw(st.booleans()) else "") + digit
    return joined, size


def small_words(language):
    table = NUMBER_WORDS[language].plain
    return st.sampled_from(sorted(word for word, value in table.items() if value <= 9))


@st.composite
def spelled_runs(draw):
    language = draw(st.sampled_from(sorted(NUMBER_WORDS)))
    size = draw(st.integers(4, 12))
    glue = st.just("") if language == "zh" else st.sampled_from([" ", "-", ", ", " - "])
    words = [draw(small_words(language)) for _ in range(size)]
    text = words[0]
    for word in words[1:]:
        text += draw(glue) + word
    return text, size


@given(st.lists(st.one_of(digit_runs().map(lambda r: r[0]), st.sampled_from(FILLERS)), max_size=6))
@settings(max_examples=300)
def test_no_run_of_four_digits_is_left_in_any_script(pieces):
    left = MARKER.sub("|", redact(" ".join(pieces)).text)
    assert not RUN.search("".join(_ascii(char) for char in left))


@given(digit_runs(), st.sampled_from(FILLERS), st.sampled_from(FILLERS))
def test_the_marker_counts_the_digits(run, before, after):
    text, size = run
    assert redact(f"{before}: {text} {after}").text.count(f"[{size}-digit structured value]") == 1


@given(spelled_runs(), st.sampled_from(FILLERS), st.sampled_from(FILLERS))
@settings(max_examples=400)
def test_no_spelled_run_is_left_in_any_covered_language(run, before, after):
    text, size = run
    redacted = redact(f"{before}; {text}; {after}")
    assert text not in redacted.text
    assert redacted.lengths == (size,)


@given(st.lists(st.one_of(digit_runs(), spelled_runs()), min_size=1, max_size=4), st.data())
@settings(max_examples=200)
def test_no_run_leaves_in_the_queries_or_the_context_of_a_request(runs, data):
    said = [data.draw(st.sampled_from(FILLERS)) + "; " + text for text, _ in runs]
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend)
    view = view_of(*(f"c:{text}" for text in said))
    asyncio.run(conversation.search("c1", said, view=view))
    request = backend.requests[0]
    left = [*request.queries, request.turn_context.utterance]
    assert not any(text in sent for text, _ in runs for sent in left)
    for sent in left:
        assert not RUN.search("".join(map(_ascii, MARKER.sub("|", sent))))


@given(st.text(max_size=200))
@settings(max_examples=300)
def test_redacting_twice_changes_nothing_more(text):
    once = redact(text).text
    assert redact(once).text == once


@given(st.text(alphabet="0123456789 -abPR", max_size=60))
@settings(max_examples=300)
def test_any_text_without_letters_beside_digits_keeps_no_run(text):
    spaced = re.sub(r"[a-zA-Z]+", " word; ", text)
    assert not RUN.search(MARKER.sub("|", redact(spaced).text))


def _ascii(char):
    value = unicodedata.digit(char, None)
    return char if value is None else str(value)
