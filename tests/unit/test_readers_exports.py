"""Exports of help desks and tables of questions become one text for each article."""

from __future__ import annotations

import json

import pytest

from knowledge.ingestion.errors import Malformed
from knowledge.ingestion.readers.formats import parse
from knowledge.ingestion.readers.parsed import FailedPart, ParsedText


def read(name: str, said):
    data = said if isinstance(said, bytes) else json.dumps(said).encode()
    found = list(parse(name, data))
    texts = {each.key: each for each in found if not isinstance(each, FailedPart)}
    return texts, [each for each in found if isinstance(each, FailedPart)]


ZENDESK = {
    "categories": [{"id": 1, "name": "Billing"}],
    "sections": [{"id": 11, "name": "Cards/Debit", "category_id": 1}],
    "articles": [
        {
            "id": 5, "title": "Lost card", "body": "<p>Call <b>us</b>.</p>", "locale": "en-us",
            "html_url": "https://acme.zendesk.com/hc/5", "section_id": 11, "draft": False,
        },
        {"id": 6, "title": "Draft", "body": "<p>x</p>", "draft": True},
        {"id": 7, "title": "Staff", "body": "<p>Inside.</p>", "user_segment_id": 9},
        {"id": 8, "title": "Empty", "body": None},
    ],
}  # fmt: skip
INTERCOM = {
    "type": "list",
    "data": [
        {
            "type": "article", "id": "5", "title": "Lost card", "body": "<p>Call us.</p>",
            "state": "published", "url": "https://help.acme.example/5", "default_locale": "en",
            "translated_content": {
                "en": {"title": "Lost card", "body": "<p>Call us.</p>", "state": "published"},
                "de": {"title": "Karte weg", "body": "<p>Anrufen.</p>", "state": "published"},
                "fr": {"title": "Perdue", "body": "<p>x</p>", "state": "draft"},
            },
        },
        {"type": "article", "id": "6", "title": "Draft", "body": "<p>x</p>", "state": "draft"},
    ],
}  # fmt: skip


def test_a_zendesk_export_gives_its_published_articles():
    texts, _ = read("export.json", ZENDESK)
    lost = texts["zendesk-5-en-us"]
    assert (lost.title, lost.body) == ("Lost card", "Call **us**.")
    assert lost.folder == "Billing/Cards-Debit"
    assert lost.labels == {"lang": "en-us", "url": "https://acme.zendesk.com/hc/5"}
    assert set(texts) == {"zendesk-5-en-us", "zendesk-7-default"}


def test_a_zendesk_article_for_some_readers_only_is_internal():
    texts, _ = read("export.json", ZENDESK)
    assert texts["zendesk-7-default"].labels == {"visibility": "internal"}


def test_a_zendesk_article_without_text_fails_alone():
    _, failed = read("export.json", ZENDESK)
    assert [(each.key, each.error.code) for each in failed] == [
        ("zendesk-8-default", "row_refused")
    ]


def test_an_intercom_export_gives_every_published_translation():
    texts, failed = read("articles.json", INTERCOM)
    assert {key: (text.title, text.labels.get("lang")) for key, text in texts.items()} == {
        "intercom-5-en": ("Lost card", "en"),
        "intercom-5-de": ("Karte weg", "de"),
    }
    assert failed == []


def test_a_table_of_questions_gives_one_text_for_each():
    table = (
        "Question;Answer;Category;Visibility;Channels\r\n"
        '"Where is my parcel?";"<p>See <b>Orders</b>.</p>";Shipping;internal;phone, sms\r\n'
        '"Line\nbreak?";Yes.;;;\r\n'
        ";An answer to nothing.;;;\r\n"
    )
    texts, failed = read("faq.csv", table.encode("utf-8-sig"))
    first, second = texts.values()
    assert (first.title, first.body, first.folder) == (
        "Where is my parcel?",
        "See **Orders**.",
        "Shipping",
    )
    assert first.labels == {"visibility": "internal", "channels": ["phone", "sms"]}
    assert (second.title, second.body) == ("Line break?", "Yes.")
    assert [each.error.code for each in failed] == ["no_text"]


def test_a_question_keeps_its_key_when_its_answer_changes():
    one, _ = read("a.csv", b"question,answer\nWhen?,At six.\n")
    two, _ = read("b.csv", b"question,answer\nWhen?,At seven.\n")
    assert set(one) == set(two)


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (b'id,question,answer\n1,When?,"At six.\n2,Where?,Here.\n3,Who?,You.\n', 2),
        (b'"id","question","answer"\n"1","When?","At six.\n"2","Where?","Here."\n', 2),
        (b'id,question,answer\n1,When?,At six.\n2,Where?,"He', 3),
        (b'Plan,Fee\nBasic,"5\nPro,10\n', 2),
    ],
    ids=["to the end", "to the next quote", "in the last row", "in a table"],
)
def test_a_table_with_an_open_quote_is_refused_whole(table, line):
    with pytest.raises(Malformed, match=f"row of line {line} is not closed"):
        list(parse("faq.csv", table))


def test_quotes_in_the_middle_of_a_cell_are_read_as_they_are():
    table = b'id,question,answer\n1,A 5" screen?,He said "yes".\n2,"A 5" one?","""So""\r\nit is"\n3,x,y"'
    texts, failed = read("faq.csv", table)
    assert {key: (text.title, text.body) for key, text in texts.items()} == {
        "1": ('A 5" screen?', 'He said "yes".'),
        "2": ('A 5 one?"', '"So"\nit is'),
        "3": ("x", 'y"'),
    }
    assert failed == []


def test_a_row_of_more_cells_than_the_first_fails_alone():
    table = b"id,question,answer\n1,When?,At six, except on Sundays.\n2,Where?,Here.,,\n"
    texts, failed = read("faq.csv", table)
    assert set(texts) == {"2"}
    assert [(each.key, each.line, each.error.code) for each in failed] == [("1", 2, "row_refused")]


def test_any_other_table_is_kept_as_a_table():
    (found,) = parse("plan-fees.csv", "Plan\tFee\nBasic\t5\nÜber\t10\n".encode("cp1252"))
    assert isinstance(found, ParsedText)
    assert found.body == "| Plan | Fee |\n| --- | --- |\n| Basic | 5 |\n| Über | 10 |"
    assert found.title == "Plan fees"


def test_lines_of_json_are_read_wherever_they_lie():
    lines = b'{"id": "a", "title": "A", "text": "Text."}\n\n{"id": "b", "oops": 1}\n'
    texts, failed = read("rows.jsonl", lines)
    assert texts["a"].body == "Text."
    assert [(each.line, each.error.code) for each in failed] == [(3, "unknown_keys")]
