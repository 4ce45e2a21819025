from __future__ import annotations

import pytest

from knowledge.retrieval.excerpts import cut


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("It costs AED 5. It takes a day.", 20, "It costs AED 5."),
        ('He said "stop." Then he left us.', 18, 'He said "stop."'),
        ("Please ask Dr. Ali about the fee", 16, "Please ask Dr.…"),
        ("退款需要五天。请耐心等待吧。", 9, "退款需要五天。"),
        ("هل وصل المبلغ؟ نعم وصل أمس.", 20, "هل وصل المبلغ؟"),
        ("- Take a\n  photo\n- Send it\n  to us", 22, "- Take a\n  photo"),
        ("Steps:\n1. Sign\n2. Send it all", 18, "Steps:\n1. Sign"),
        ("| Fee | 5 AED |\n| Limit | 90 AED |", 20, "| Fee | 5 AED |"),
        ("it is wrapped\nin the middle of it all", 16, "it is wrapped…"),
    ],
)
def test_an_excerpt_ends_where_a_sentence_or_an_item_does(text, limit, kept):
    assert cut(text, limit) == kept


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("费用为1,200.50元人民币", 7, "费用为…"),
        ("it is 1 200 dirhams", 10, "it is…"),
        ("call 04 123 4567 now", 12, "call…"),
        ("温度为-5度左右吧", 5, "温度为…"),
        ("共50%以上的人", 4, "共…"),
    ],
)
def test_an_excerpt_stops_before_a_number_that_does_not_fit(text, limit, kept):
    assert cut(text, limit) == kept


def test_an_excerpt_stops_before_a_character_that_does_not_fit():
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert cut(f"好{family}好好好", 5) == "好…"


def test_of_a_number_longer_than_the_limit_nothing_is_said():
    assert cut("12345678901", 5) == ""


def test_a_list_of_numbers_is_no_number():
    assert len(cut("12 34 " * 40, 90)) > 60
