from __future__ import annotations

import time
from itertools import pairwise

import pytest

from knowledge.passages import PassagePolicy, passages
from knowledge.text.sentences import sentence_ends
from knowledge.text.units import estimated_tokens

SENTENCE = "Refunds reach the card within five working days of the request. "
SMALL = PassagePolicy(target=200, overlap=60, least=40)


def texts(body, **given):
    return [passage.text(body) for passage in passages(body, **given)]


@pytest.mark.parametrize("body", ["", " ", "\n\n\t", "\u3000"])
def test_a_body_of_blanks_has_no_passage(body):
    assert passages(body) == ()


def test_a_short_body_is_one_passage():
    assert texts("Call us.") == ["Call us."]


def test_a_heading_opens_a_passage():
    body = f"# Refunds\n{SENTENCE * 4}\n# Fees\n{SENTENCE * 4}"
    assert [passage.section for passage in passages(body)] == [("Refunds",), ("Fees",)]


def test_a_heading_never_stands_alone_before_its_text():
    body = f"{SENTENCE * 15}\n\n## Fees\n\n{SENTENCE * 12}"
    assert any(text.startswith("## Fees\n\nRefunds reach") for text in texts(body))


def test_tiny_sections_share_a_passage():
    assert len(passages("# A\none\n# B\ntwo\n# C\nthree\n")) == 1


def test_the_section_is_the_path_of_headings():
    body = f"# Cards\n{SENTENCE * 5}\n## Lost\n{SENTENCE * 5}\n### Abroad\n{SENTENCE * 5}\n## Fees\n{SENTENCE * 5}"
    assert [passage.section for passage in passages(body)] == [
        ("Cards",),
        ("Cards", "Lost"),
        ("Cards", "Lost", "Abroad"),
        ("Cards", "Fees"),
    ]


def test_underlined_and_closed_headings_count():
    body = f"Cards\n=====\n{SENTENCE * 5}\n## Lost ##\n{SENTENCE * 5}"
    assert passages(body)[-1].section == ("Cards", "Lost")


def test_a_sign_in_code_is_no_heading():
    body = f"```\n# comment\n{SENTENCE * 5}\n```\nAfter."
    assert {passage.section for passage in passages(body)} == {()}


def test_indexed_text_says_where_the_passage_stands():
    body = f"# Lost cards\n{SENTENCE}"
    (passage,) = passages(body, title="Cards", folder_leaf="UAE")
    assert passage.indexed_text(body).startswith("UAE > Cards > Lost cards\n# Lost cards\nRefunds")
    assert passage.text(body) == body


def test_a_title_repeated_as_the_first_heading_is_named_once():
    (passage,) = passages("# cards\nText.", title="Cards", folder_leaf="UAE")
    assert passage.heading == "UAE > Cards"


def test_a_list_item_is_never_cut():
    items = [
        f"{n}. Open the page number {n} and press the green button there.\n" for n in range(1, 30)
    ]
    body = "Steps:\n\n" + "".join(items)
    for text in texts(body, limits=SMALL):
        assert text.lstrip().startswith(("Steps:", *(f"{n}." for n in range(1, 30))))
        assert text.endswith("there.\n")


def test_an_item_longer_than_a_passage_stays_whole():
    item = "- " + SENTENCE * 6 + "\n"
    body = item + "- short\n" + item
    assert item in texts(body, limits=SMALL)


def test_nested_items_stay_with_their_item():
    body = "".join(
        f"- Item {n}\n  - first detail of it\n  - second detail of it\n" for n in range(20)
    )
    for text in texts(body, limits=SMALL):
        assert text.startswith("- Item")


@pytest.mark.parametrize("label", ["Monthly fee:\n", "**Monthly fee:**\n\n", "月费：\n\n"])
def test_a_label_stays_with_its_value(label):
    body = SENTENCE * 2 + "\n\n" + label + "AED 50\n\n" + SENTENCE * 3
    assert any(label.strip() in text and "AED 50" in text for text in texts(body, limits=SMALL))


def test_each_part_of_a_table_repeats_the_header_row():
    rows = "".join(f"| Plan {n} | {n}0 AED a month |\n" for n in range(40))
    body = f"| Plan | Price |\n|---|---|\n{rows}"
    found = passages(body, limits=SMALL)
    assert len(found) > 2
    for passage in found:
        assert passage.indexed_text(body).count("| Plan | Price |") == 1
        assert passage.text(body).endswith("|\n")
        assert passage.context_start == passage.start


def test_two_tables_keep_their_own_headers():
    rows = "".join(f"| {n} | a long cell of text for row {n} |\n" for n in range(10))
    body = f"| A | B |\n|---|---|\n{rows}\n| C | D |\n|---|---|\n{rows}"
    headers = [passage.table_header for passage in passages(body, limits=SMALL)]
    assert headers[1] == "| A | B |"
    assert headers[-1] == "| C | D |"


def test_long_prose_is_cut_between_sentences_and_overlaps():
    body = " ".join(f"Sentence number {n} says that refunds take a while." for n in range(60))
    found = passages(body)
    assert len(found) > 2
    for before, passage in pairwise(found):
        assert passage.text(body).startswith("Sentence number")
        assert before.start < passage.context_start < passage.start
        assert passage.start - passage.context_start <= 150
        assert body[passage.context_start :].startswith("Sentence number")


def test_nothing_overlaps_across_a_heading():
    body = f"# A\n{SENTENCE * 5}\n# B\n{SENTENCE * 5}"
    assert all(passage.context_start == passage.start for passage in passages(body))


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ("退款将在五个工作日内到账。请耐心等待！还有问题吗？", "退款将在五个工作日内到账。"),
        ("هل وصل المبلغ؟ نعم وصل. شكرا.", "هل وصل المبلغ؟ "),
        ("पैसा वापस आएगा। कृपया प्रतीक्षा करें।", "पैसा वापस आएगा। "),
        ("Dr. Ali charges 3.50 AED. Pay at the desk.", "Dr. Ali charges 3.50 AED. "),
        ("Ask for ext. 12 today. Then wait.", "Ask for ext. 12 today. "),
        ('He said "stop." Then he left.', 'He said "stop." '),
        ("see e.g. the page. Then go.", "see e.g. the page. "),
    ],
)
def test_sentences_end_where_readers_end_them(body, first):
    assert body[: sentence_ends(body)[0]] == first


@pytest.mark.parametrize(
    "text",
    [
        "退款政策。" * 500,
        "ขอคืนเงิน" * 300,
        SENTENCE * 80,
        "x9q8-AB12/33_aa" * 200,
        "😀" * 900,
        "qwrtpsdf" * 400,
    ],
)
def test_no_passage_is_longer_than_the_embedder_reads(text):
    found = passages(text, title="标题" * 200, folder_leaf="F" * 500)
    assert max(estimated_tokens(passage.indexed_text(text)) for passage in found) <= 480


def test_an_injected_counter_decides():
    limits = PassagePolicy(count=len, most_tokens=100)
    found = passages(SENTENCE * 20, title="Cards", limits=limits)
    assert max(len(passage.indexed_text(SENTENCE * 20)) for passage in found) <= 100


def test_the_same_body_is_always_cut_alike():
    body = f"# A\n{SENTENCE * 30}\n- x\n- y\n"
    assert passages(body, title="T") == passages(body, title="T")


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        SENTENCE,
        "a",
        "- item text here\n",
        "# a\n",
        "| a | b |\n",
        "你好吗。",
        " ",
        "a:\n\n",
        "```\n",
    ],
)
def test_a_megabyte_is_cut_in_seconds(unit):
    body = "x" + unit * (1_000_000 // len(unit.encode()))
    started = time.process_time()
    passages(body)
    assert time.process_time() - started < 8
