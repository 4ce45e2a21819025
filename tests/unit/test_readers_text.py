"""Markdown, HTML and plain text become one kind of text with a title."""

from __future__ import annotations

import pytest

from knowledge.ingestion.errors import Malformed, NoText, TooDeep
from knowledge.ingestion.readers.formats import parse
from knowledge.ingestion.readers.markdown import first_heading
from knowledge.ingestion.readers.parsed import ParsedText

PARAGRAPH = "Refunds are paid to the card that was charged, within five working days. " * 4


def read(name: str, text: str):
    return read_bytes(name, text.encode())


def read_bytes(name: str, data: bytes):
    (found,) = parse(name, data)
    assert isinstance(found, ParsedText)
    return found


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Refunds\n\nText.", "Refunds"),
        ("Intro.\n\n## How to *get* `X`\n", "How to get X"),
        ("Refunds\n=======\n\nText.", "Refunds"),
        ("```\n# not this\n```\n\n# This", "This"),
        ("#\n\n# Second", "Second"),
        ("No heading.", "Lost card"),
        ("---\ntitle: From above\n---\n# Heading", "From above"),
    ],
)
def test_markdown_is_titled_by_its_first_heading(text, title):
    assert read("a/lost-card.md", text).title == title


def test_a_heading_far_down_is_not_looked_for():
    assert first_heading("word " * 40_000 + "\n\n# Late") == ""


def test_markdown_is_kept_as_written():
    body = "# A\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n- one\n  - two\n\n> *quoted*"
    assert read("a.md", body).body == body


def test_a_rule_at_the_top_is_no_front_matter():
    assert read("a.md", "---\n\nJust text.\n").body == "---\n\nJust text."


def test_a_front_matter_that_is_no_yaml_is_refused():
    with pytest.raises(Malformed, match="not YAML"):
        read("a.md", "---\na: [1\n---\nText.")


def test_a_front_matter_cannot_make_objects():
    with pytest.raises(Malformed):
        read("a.md", "---\na: !!python/object/apply:os.getcwd []\n---\nText.")


def test_line_endings_and_hidden_signs_are_cleaned():
    assert read("a.txt", "one\r\ntwo\u200b\x00" + "." * 2_000).body == "one\ntwo" + "." * 2_000


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff", "--- *** ___"])
def test_a_file_without_words_holds_no_text(text):
    with pytest.raises(NoText):
        read("a.md", text)


def test_headings_lists_and_tables_of_html_survive():
    body = read(
        "a.html",
        "<h1>Fees</h1><h2>Cards</h2><ol><li>Gold<ul><li>Plus</li></ul></li><li>Basic</li></ol>"
        "<table><tr><th>Card</th><th>Fee</th></tr><tr><td>Gold</td><td>5</td></tr></table>",
    ).body
    assert "# Fees\n\n## Cards" in body
    assert "1. Gold\n   - Plus\n2. Basic" in body
    assert "| Card | Fee |\n| --- | --- |\n| Gold | 5 |" in body


def test_the_main_part_of_a_page_is_taken():
    found = read(
        "a.html",
        "<html lang='de-CH'><head><title>Refunds | Acme</title>"
        "<link rel='canonical' href='https://acme.example/refunds'></head><body>"
        f"<nav>Home Pricing</nav><main><h1>Refunds</h1><p>{PARAGRAPH}</p></main>"
        "<footer>Imprint</footer></body></html>",
    )
    assert found.title == "Refunds"
    assert found.labels == {"lang": "de-CH", "url": "https://acme.example/refunds"}
    assert found.body == f"# Refunds\n\n{PARAGRAPH.strip()}"


def test_navigation_made_of_plain_blocks_is_left_out():
    links = "".join(f"<li><a href='{n}'>Other article {n}</a></li>" for n in range(12))
    body = read(
        "a.html",
        f"<html><body><div class='bar'><ul>{links}</ul></div><div><div class='text'><h1>Refunds</h1>"
        f"<p>{PARAGRAPH}</p><h2>Steps</h2><p>{PARAGRAPH}</p></div></div>"
        f"<div class='foot'><a href='/'>Imprint</a></div></body></html>",
    ).body
    assert "Other article" not in body
    assert "## Steps" in body


def test_what_nobody_sees_is_left_out():
    body = read(
        "a.html",
        "<p>Seen.</p><script>alert(1)</script><style>p{}</style><!-- note -->"
        "<p hidden>one</p><p style='display: none'>two</p><p aria-hidden='true'>three</p>"
        "<template>four</template>",
    ).body
    assert body == "Seen."


def test_a_page_without_heading_is_titled_by_its_title():
    assert (
        read("a.html", "<title>Opening hours</title><p>Nine to five.</p>").title == "Opening hours"
    )


def test_links_keep_their_words_only():
    assert read("a.html", "<p>See <a href='https://x.example/long'>the form</a>.</p>").body == (
        "See the form."
    )


def test_html_declares_its_encoding():
    page = "<meta charset='windows-1256'><p>مرحبا بكم في خدمة العملاء</p>".encode("cp1256")
    assert read_bytes("a.html", page).body == "مرحبا بكم في خدمة العملاء"


def test_html_nested_without_end_is_refused():
    with pytest.raises(TooDeep):
        read("a.html", "<div>" * 50_000 + "text")


def test_a_line_of_200_000_letters_is_read():
    assert len(read("a.txt", "x" * 200_000).body) == 200_000
