"""What docs/voice-api.md says of content: whole sentences or list items, never half a character or number."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from knowledge.retrieval.excerpts import ELLIPSIS, cut

CLUSTERS = (
    "a", "ß", "e\u0301", "o\u0302\u0323", "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f44d\U0001f3fd", "\U0001f1e6\U0001f1ea", "1\ufe0f\u20e3", "نْ", "لّٰ", "退", "款", "한",
    "\u1112\u1161\u11ab", "नि", "กำ", " ", "\n", "。", "。\u0301", "؟", ".", "\r\n",
)  # fmt: skip
WORDS = ("fee", "AED ", "is ", "费用为", "رسوم ", "शुल्क ", "of\n", "ﬁ", "—", "\U0001f600")
NUMBERS = (
    "7", "1200", "1,200.50", "1.200,50", "1 200 000", "1\u00a0200", "12:30", "2026-03-02", "1/2",
    "+971 4 123 4567", "-5", "50%", "١٬٢٠٠٫٥٠", "१२००", "192.168.0.1", "1'000",
)  # fmt: skip
SENTENCES = (
    "Refunds take five days. ", "Did it arrive? ", "Dr. Ali charges AED 3.50. ", 'He said "stop." ',
    "退款将在五天内到账。", "真的吗？”", "هل وصل المبلغ؟ ", "पैसा वापस आएगा। ", "Wait for e.g. the letter! ",
)  # fmt: skip
ITEMS = (
    "- Bring your passport and\n  the letter of the bank", "2. Sign the form", "• 保留收据",
    "  - a copy of it\n    for each traveller", "| Fee | 5 AED |",
)  # fmt: skip
anything = st.text(st.characters(exclude_categories=()), max_size=120)
limits = st.integers(1, 90)


def made_of(parts, *, least=0, most=40):
    return st.lists(st.sampled_from(parts), min_size=least, max_size=most)


def end_of(text, limit):
    """Return how much of the text was kept, and whether a sign says that it goes on."""
    kept = cut(text, limit)
    if text.startswith(kept):
        return len(kept), False
    assert kept.endswith(ELLIPSIS)
    assert text.startswith(kept.removesuffix(ELLIPSIS))
    return len(kept) - 1, True


def all_ends(text):
    return {end_of(text, limit)[0] for limit in range(1, len(text))}


def borders(parts):
    return list(accumulate(map(len, parts), initial=0))


@given(st.one_of(anything, made_of(CLUSTERS).map("".join)), limits)
def test_an_excerpt_is_never_longer_than_its_limit(text, limit):
    assert len(cut(text, limit)) <= limit


@given(st.one_of(anything, made_of(CLUSTERS).map("".join)), limits)
def test_an_excerpt_is_the_beginning_of_its_text(text, limit):
    end_of(text.strip(), limit)


@given(anything)
def test_what_is_short_enough_stays_as_it_is(text):
    assert cut(text, max(1, len(text))) == text.strip()


@given(made_of(CLUSTERS, most=12))
def test_no_excerpt_ends_inside_a_character(parts):
    parts = ["a", *parts, "z"]
    for end in all_ends("".join(parts)):
        assert end in borders(parts)


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(NUMBERS)), max_size=6))
def test_no_excerpt_ends_inside_a_number(pairs):
    parts = [part for pair in pairs for part in pair]
    ends = all_ends("".join([*parts, "z"]))
    starts = borders(parts)
    for start, part in zip(starts[1::2], parts[1::2], strict=False):
        assert not ends & set(range(start + 1, start + len(part))), part


@given(made_of(SENTENCES, least=20), st.integers(90, 150))
def test_an_excerpt_of_sentences_ends_with_one(parts, limit):
    text = "".join(parts).strip()
    end, goes_on = end_of(text, limit)
    ends = {len(text[:border].rstrip()) for border in borders(parts)}
    assert (end in ends, goes_on) == (True, False)
    assert end > limit - max(map(len, SENTENCES))


@given(made_of(ITEMS, least=20), st.integers(120, 200))
def test_an_excerpt_of_a_list_ends_with_an_item(parts, limit):
    text = "\n".join(parts).strip()
    lines = [f"{part}\n" for part in parts]
    lines[0] = lines[0].lstrip()
    end, goes_on = end_of(text, limit)
    assert (end in {border - 1 for border in borders(lines)}, goes_on) == (True, False)


@given(made_of(("退", "款", "政", "策", "한", "ก"), least=100, most=120), st.integers(20, 90))
def test_text_without_spaces_fills_what_there_is(parts, limit):
    assert len(cut("".join(parts), limit)) == limit
