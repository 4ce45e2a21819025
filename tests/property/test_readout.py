"""What of an instruction or a table is told holds what was found, within its bound."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from knowledge.passages import passages
from knowledge.retrieval.readout import Read, passage_out, read_out
from knowledge.retrieval.types import Focus
from knowledge.text.columns import column_names

SENTENCES = (
    "The pelican clerk notes an entry. ", "Bring a passport.\n", "- Take a photo\n", "费用为五元。",
    "Ask for the letter of the bank and\nof the branch. ", "\n\n", "It costs AED 1,200.50. ",
)  # fmt: skip
HEADS = ("", "## Refunds\n\n", "Step 3. Look.\n\n", "Step 2. ", "# Cards\n")
ANSWER = "A flamingo voucher is wired."
FOCUS = Focus(frozenset({"flamingo", "voucher", "wired"}))
limits = st.integers(120, 1_300)


@st.composite
def bodies(draw):
    """Return a body of steps and sections, and where in it one sentence stands."""
    parts = draw(st.lists(st.tuples(st.sampled_from(HEADS), st.integers(0, 60)), max_size=5))
    filler = draw(st.sampled_from(SENTENCES[:-1])) + draw(st.sampled_from(SENTENCES))
    body = "".join(f"\n\n{head}{filler * count}" for head, count in parts)
    start = len(body) + 2
    after = filler * draw(st.integers(0, 30))
    return f"{body}\n\n{ANSWER}\n\n{after}", start


@given(bodies(), limits, st.booleans())
def test_what_is_read_out_of_an_instruction_holds_the_sentence_that_matches(drawn, limit, first):
    body, start = drawn
    (near,) = [(p.start, p.end) for p in passages(body) if p.start <= start < p.end]
    told = read_out(Read(body, near), FOCUS, limit, with_prerequisite=first)
    assert ANSWER in told
    assert len(told) <= limit


tables = st.tuples(st.integers(1, 60), st.integers(0, 60), st.integers(1, 30))


@given(tables, st.sampled_from(("", "## Fees\n\n", f"Step 2. {'Read the fee. ' * 20}\n\n")), limits)
def test_the_row_that_matches_is_told_below_its_columns(sizes, above, limit):
    before, after, width = sizes
    rows = "".join(f"| row {n} | {'val ' * width}|\n" for n in range(before + after))
    at = rows.index(f"| row {before - 1} |")
    body = f"{above}| Name | Text |\n| --- | --- |\n{rows[:at]}| {ANSWER} |\n{rows[at:]}"
    for passage in passages(body):
        if ANSWER in passage.text(body):
            near = (passage.start, passage.end)
            above_it = body[: passage.start]
            told = (
                read_out(Read(body, near), FOCUS, limit, with_prerequisite=True),
                passage_out(passage.text(body), above_it, FOCUS, limit, is_whole=True),
            )
            for text in told:
                assert f"| {ANSWER} |" in text
                assert "| Name | Text |" in text
                assert len(text) <= limit


@given(st.text(max_size=400), st.integers(0, 400), st.integers(0, 400), limits)
def test_whatever_an_instruction_is_made_of_its_bound_is_kept(body, start, end, limit):
    assert len(read_out(Read(body, (start, end)), FOCUS, limit, with_prerequisite=True)) <= limit


@given(
    st.lists(st.sampled_from(("Fee", "Limit in AED", "费用", "x" * 90)), min_size=1, max_size=6),
    st.integers(2, 90),
    st.sampled_from(("", "Intro.\n\n", "# Cards\n\n", "| A | B |\n| - | - |\n| 1 | 2 |\n\n")),
    limits,
)
def test_each_later_part_of_a_table_begins_with_the_names_of_its_columns(
    names, count, above, limit
):
    header = f"| {' | '.join(names)} |"
    rows = "".join(f"| row {n} | {'value ' * 5}|\n" for n in range(count))
    body = f"{above}{header}\n| --- |\n{rows}"
    assume(len(header) <= limit // 6 - 1)
    for passage in passages(body)[1:]:
        told = passage_out(passage.text(body), body[: passage.start], FOCUS, limit, is_whole=True)
        assert header in told
        assert told.count(header) == 1
        assert len(told) <= limit


def test_a_table_that_begins_higher_than_was_looked_names_no_columns():
    assert column_names("| Card |\n| Card 9 |\n", "| Card 10 |", is_whole=False) == ""
    assert column_names("rd 8 |\n| Card 9 |\n", "| Card 10 |", is_whole=False) == ""
    assert column_names("| Card |\n| Card 9 |\n", "| Card 10 |", is_whole=True) == "| Card |"


def test_what_only_looks_like_a_row_is_none():
    assert column_names("| Card |\n| --- |\n", "Card 9 | 5", is_whole=True) == ""
    assert column_names("| Card |\n\n", "| Branch |", is_whole=True) == ""


def test_the_rest_of_a_long_row_belongs_to_its_table():
    assert column_names("| Card |\n| Card 9 with", " much to say |", is_whole=True) == "| Card |"
