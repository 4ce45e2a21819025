"""Which part of an instruction is read out, by what the caller is at."""

from __future__ import annotations

import pytest

from knowledge.retrieval.readout import Read, read_out
from knowledge.retrieval.steps import steps
from knowledge.retrieval.types import Focus
from knowledge.text.numbers import number_at
from knowledge.text.tokens import query_tokens
from knowledge.text.values import DigitCount, Tells, digit_counts, tells_of

NUMBERED = """# Find a transfer

Be patient.

Step 1. Ask for the reference number.

Step 2. Look the transfer up.

Step 3. If the transfer is paid out, tell the caller where.

Step 4. If the transfer is held, open a case.
"""
LISTED = "1. Ask for the card.\n2. Block the card.\n3. Send a new card by courier.\n"
HEADED = "## Lost card\nBlock it.\n\n## Stolen card\nAsk for the police report.\n"
ARABIC = "الخطوة ١. اطلب رقم الحوالة.\n\nالخطوة ٢. ابحث عن الحوالة.\n\nالخطوة ٣. إذا كانت الحوالة معلقة افتح طلبا.\n"
COUNTS = """Step 1. Ask for the confirmation code.

Step 2. If the code has exactly 8 digits, look it up.

Step 3. If the code has fewer or more than 8 digits, ask again.
"""


def numbers_of(body, question, *, digits=None, near=(0, 0), first=True):
    focus = Focus(frozenset(query_tokens(question)), digits)
    text = read_out(Read(body, near), focus, 1_200, with_prerequisite=first)
    return [step.number for step in steps(text)]


@pytest.mark.parametrize("body", [NUMBERED, LISTED, HEADED, ARABIC, COUNTS, "No steps at all."])
def test_the_parts_of_an_instruction_join_up_to_it(body):
    parts = steps(body)
    assert "".join(part.text(body) for part in parts).strip() == body.strip()


@pytest.mark.parametrize(
    ("body", "numbers"),
    [
        (NUMBERED, [None, 1, 2, 3, 4]),
        (LISTED, [1, 2, 3]),
        (HEADED, [None, None]),
        (ARABIC, [1, 2, 3]),
        ("### Step 1: Greet\nHello.\n### Step 2: Ask\nName?\n", [1, 2]),
        ("**Step 1** Greet.\n\n**Step 2** Ask.\n", [1, 2]),
        ("第1步 问号码。\n第2步 查询。\n", [1, 2]),
        ("Schritt 1: Fragen.\nSchritt 2: Suchen.\n", [1, 2]),
    ],
)
def test_steps_are_known_by_their_numbers(body, numbers):
    assert [step.number for step in steps(body)] == numbers


def test_a_later_step_brings_the_one_before():
    assert numbers_of(NUMBERED, "the transfer is held") == [3, 4]


def test_step_one_brings_step_two():
    assert numbers_of(NUMBERED, "ask for the reference number") == [1, 2]


def test_a_sentence_longer_than_the_room_is_read_out_from_its_beginning():
    body = f"First of all. {'A flamingo voucher, ' * 20}is wired. Then close the drawer. Smile."
    focus = Focus(frozenset({"flamingo", "voucher", "wired"}))
    told = read_out(Read(body, (0, len(body))), focus, 200, with_prerequisite=False)
    assert told.startswith("A flamingo voucher, ")


def test_an_unrelated_later_branch_is_not_read_out():
    assert 4 not in numbers_of(NUMBERED, "the transfer is paid out")


def test_a_secondary_instruction_gives_its_matching_part_only():
    assert numbers_of(NUMBERED, "the transfer is held", first=False) == [4]


def test_a_list_is_a_row_of_steps():
    assert numbers_of(LISTED, "send a new card by courier") == [2, 3]


def test_a_section_without_a_number_stands_alone():
    focus = Focus(frozenset(query_tokens("my card was stolen, do you need the police report")))
    text = read_out(Read(HEADED, (0, 0)), focus, 1_200, with_prerequisite=True)
    assert text == "## Stolen card\nAsk for the police report."


def test_arabic_steps_are_followed_as_well():
    assert numbers_of(ARABIC, "الحوالة معلقة") == [2, 3]


def test_words_that_say_nothing_leave_it_to_where_the_search_found_it():
    start = NUMBERED.index("Step 3")
    assert numbers_of(NUMBERED, "¿y ahora?", near=(start, start + 20)) == [2, 3]


def test_the_branch_for_exactly_the_given_count_comes_first():
    assert numbers_of(COUNTS, "here is my code", digits=8, first=False) == [2]


def test_another_count_is_no_match_for_that_branch():
    assert numbers_of(COUNTS, "fewer digits, ask again", digits=7, first=False) == [3]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("exactly 8 digits", DigitCount(8, Tells.EXACTLY)),
        ("an eight-digit confirmation", DigitCount(8, Tells.EXACTLY)),
        ("an 8-digit code", DigitCount(8, Tells.EXACTLY)),
        ("٨ أرقام", DigitCount(8, Tells.EXACTLY)),
        ("ثمانية أرقام", DigitCount(8, Tells.EXACTLY)),
        ("ocho dígitos", DigitCount(8, Tells.EXACTLY)),
        ("achtstellige Nummer", DigitCount(8, Tells.EXACTLY)),
        ("huit chiffres", DigitCount(8, Tells.EXACTLY)),
        ("आठ अंक", DigitCount(8, Tells.EXACTLY)),
        ("8位数字", DigitCount(8, Tells.EXACTLY)),
        ("ten digits", DigitCount(10, Tells.EXACTLY)),
        ("fewer than 8 digits", DigitCount(8, Tells.OTHERWISE)),
        ("more than eight digits", DigitCount(8, Tells.OTHERWISE)),
        ("not 8 digits", DigitCount(8, Tells.OTHERWISE)),
        ("Invalid 8-digit code", DigitCount(8, Tells.OTHERWISE)),
        ("8 digits but wrong", DigitCount(8, Tells.OTHERWISE)),
        ("[10-digit structured value]", DigitCount(10, Tells.EXACTLY)),
    ],
)
def test_counts_are_read_as_they_are_spoken(text, count):
    assert digit_counts(text)[:1] == [count]


@pytest.mark.parametrize("text", ["8 cards", "digits", "call 8 times", "the eighth step"])
def test_other_numbers_are_no_counts(text):
    assert digit_counts(text) == []


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("the 8 digit and the 16 digit number", [8, 16]),
        ("twenty-four digits", [24]),
        ("sixteen digits; 15 digits is wrong", [16, 15]),
        ("12 figures and 3 digits", [12, 3]),
    ],
)
def test_a_number_is_read_whole_and_once(text, digits):
    assert [count.digits for count in digit_counts(text)] == digits


@pytest.mark.parametrize(
    "letters", ["ก" * 5_000, "汉" * 5_000 + "位", "letters and " * 400 + "digits"]
)
def test_a_long_text_is_not_read_from_each_of_its_letters(monkeypatch, letters):
    read = []

    def note(*told):
        read.append(told)
        return number_at(*told)

    monkeypatch.setattr("knowledge.text.values.number_at", note)
    digit_counts(letters, "en")
    assert len(read) < 1_000


def test_a_text_that_names_a_count_both_ways_is_about_it():
    assert tells_of("Exactly 8 digits, never fewer than 8 digits", 8) is Tells.EXACTLY
