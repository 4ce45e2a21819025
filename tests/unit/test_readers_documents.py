"""PDF, office files, books, mail and archives become text with headings, lists and tables."""

from __future__ import annotations

from importlib import import_module

import pytest

from knowledge.ingestion.errors import (
    BinaryContent,
    Encrypted,
    Malformed,
    NoText,
    TooLarge,
    TooManyEntries,
    UnsupportedFormat,
)
from knowledge.ingestion.readers.formats import READERS, READERS_OF_MANY, parse
from knowledge.ingestion.readers.parsed import FailedPart
from tests import made_files as made


def one(name: str, data: bytes):
    (found,) = parse(name, data)
    return found


def parts(name: str, data: bytes):
    found = list(parse(name, data))
    texts = {each.part: each for each in found if not isinstance(each, FailedPart)}
    return texts, {each.part: each.error for each in found if isinstance(each, FailedPart)}


@pytest.mark.parametrize("place", sorted({*READERS.values(), *READERS_OF_MANY.values()}))
def test_every_reader_is_there(place):
    module, _, name = place.partition(".")
    assert callable(getattr(import_module(f"knowledge.ingestion.readers.{module}"), name))


def test_a_word_document_keeps_headings_lists_and_tables():
    found = one("policy.docx", made.word())
    assert found.title == "Refund policy"
    assert "# Refund policy" in found.body
    assert "# Who may return" in found.body
    assert "- Unused items\n- Items in their box" in found.body
    assert "1. Open the account\n2. Choose refund" in found.body
    assert "| Plan | Fee |\n| --- | --- |\n| Basic | 5 |\n| Pro | 10 |" in found.body


def test_slides_become_sections_with_bullets_tables_and_notes():
    found = one("deck.pptx", made.slides())
    assert found.title == "Refund policy"
    assert "## Refund policy\n\n- Within thirty days\n  - Unused items only" in found.body
    assert "Mention the receipt." in found.body
    assert "## Fees\n\n| Plan | Fee |\n| --- | --- |\n| Basic | 5 |" in found.body


def test_hidden_slides_and_sheets_are_left_out():
    assert "margin" not in one("deck.pptx", made.slides()).body.lower()
    assert "secret" not in one("fees.xlsx", made.workbook()).body


def test_sheets_become_tables_without_empty_rows_and_columns():
    found = one("plan-fees.xlsx", made.workbook())
    assert found.title == "Plan fees"
    assert found.body == (
        "## Fees\n\n| Plan | Fee |\n| --- | --- |\n| Basic | 5 |\n| Pro | 10.5 |\n\n"
        "## Hours\n\n| Day | Open |\n| --- | --- |\n| Monday | 9:00 \\| 18:00 |"
    )


def test_a_pdf_keeps_headings_lists_and_tables():
    found = one("policy.pdf", made.pdf())
    assert found.title == "Refund policy 1"
    assert found.body.startswith(
        f"# Refund policy 1\n\n## Who may return\n\n{made.SENTENCE.strip()}"
    )
    assert "- Unused items\n- Items in their box" in found.body
    assert "| Plan | Fee |\n| --- | --- |\n| Basic | 5 |\n| Pro | 10 |" in found.body


def test_what_stands_on_every_page_of_a_pdf_is_left_out():
    body = one("policy.pdf", made.pdf(5)).body
    assert "confidential" not in body
    assert body.count("# Refund policy") == 5


def test_a_pdf_of_pictures_holds_no_text():
    with pytest.raises(NoText, match="text recognition"):
        one("scan.pdf", made.scanned_pdf())


def test_a_pdf_with_a_password_says_so():
    with pytest.raises(Encrypted):
        one("policy.pdf", made.pdf(password="secret"))


@pytest.mark.parametrize("cut", [10, 200, 1_000])
def test_a_pdf_that_is_cut_off_is_refused_or_read_in_part(cut):
    try:
        body = one("policy.pdf", made.pdf()[:-cut]).body
    except (Malformed, NoText):
        return
    assert "Refund" in body


def test_a_book_is_read_in_its_order():
    found = one("rules.epub", made.book())
    assert (found.title, found.labels) == ("House rules", {"lang": "en"})
    assert found.body == "# First\n\nBe kind.\n\n# Second\n\n- Knock"


def test_a_message_is_titled_by_its_subject():
    found = one("hours.eml", made.mail())
    assert (found.title, found.body) == ("Öffnungszeiten", "We close at six.")


def test_a_message_in_html_is_read_as_markdown():
    body = one("hours.eml", made.mail(html="<h2>Hours</h2><p>We close at <b>six</b>.</p>")).body
    assert body == "## Hours\n\nWe close at **six**."


def test_what_is_attached_to_a_message_is_a_text_of_its_own():
    texts, failed = parts(
        "hours.eml", made.mail(("plan.md", b"# Plan\n\nSix."), ("a.png", b"\x89PNG"))
    )
    assert {part: text.title for part, text in texts.items()} == {
        "": "Öffnungszeiten",
        "plan.md": "Plan",
    }
    assert [error.code for error in failed.values()] == ["no_text"]


def test_an_archive_holds_files_of_every_kind_in_folders():
    inner = made.archive({"deep/note.txt": "Deep down."})
    texts, failed = parts(
        "docs/help.zip",
        made.archive(
            {
                "a.md": "# A\n\nText.", "b/c.docx": made.word(), "b/inner.zip": inner,
                "__MACOSX/a.md": "x", ".hidden.md": "x", "bad.pdf": b"no pdf",
            }
        ),
    )  # fmt: skip
    assert {part: (text.title, text.folder) for part, text in texts.items()} == {
        "a.md": ("A", "help"),
        "b/c.docx": ("Refund policy", "help/b"),
        "b/inner.zip!/deep/note.txt": ("Note", "help/b/inner/deep"),
    }
    assert {part: error.code for part, error in failed.items()} == {"bad.pdf": "malformed"}


def test_names_in_an_archive_are_decoded():
    wanted = ["退货政策说明.txt", "配送时间与费用.txt"]
    held = {
        letter * len(name.encode("gbk")): name for letter, name in zip("pq", wanted, strict=True)
    }
    data = made.archive(dict.fromkeys(held, "Within thirty days."))
    for placeholder, name in held.items():
        data = data.replace(placeholder.encode(), name.encode("gbk"))
    texts, _ = parts("help.zip", data)
    assert sorted(texts) == sorted(wanted)


def test_archives_in_archives_have_an_end():
    data = made.archive({"note.txt": "Deep down."})
    for _ in range(5):
        data = made.archive({"inner.zip": data})
    texts, failed = parts("help.zip", data)
    assert texts == {}
    assert [error.code for error in failed.values()] == ["too_many_entries"]


def test_an_archive_of_too_many_entries_is_refused():
    with pytest.raises(TooManyEntries):
        parts("help.zip", made.archive({f"{number}.txt": "x" for number in range(2_001)}))


@pytest.mark.parametrize("name", ["bomb.docx", "bomb.zip", "bomb.xlsx", "bomb.epub"])
def test_what_unpacks_to_hundreds_of_megabytes_is_refused(name):
    with pytest.raises(TooLarge, match="unpacks to more than"):
        one(name, made.office_bomb())


def test_an_archive_that_lies_about_its_size_is_refused():
    texts, failed = parts("lie.zip", made.lying_zip())
    assert [len(text.body) for text in texts.values()] in ([], [10])
    assert len(texts) + len(failed) == 1


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("a.pdf", b"plain text", Malformed),
        ("a.docx", b"plain text", Malformed),
        ("a.docx", made.archive({"a.txt": "x"}), BinaryContent),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), Malformed),
        (
            "a.docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            Encrypted,
        ),
        ("a.zip", b"PK\x03\x04 broken", Malformed),
        ("a.epub", made.archive({"a.txt": "x"}), Malformed),
        ("a.eml", b"just words", Malformed),
        ("a.doc", b"\xd0\xcf\x11\xe0", UnsupportedFormat),
        ("a.rtf", rb"{\rtf1 text}", UnsupportedFormat),
        ("a.json", b'{"a": 1}', UnsupportedFormat),
        ("a.json", b"{", Malformed),
        ("a.png", b"\x89PNG", NoText),
    ],
)
def test_a_file_that_is_not_what_it_is_called_says_what_is_wrong(name, data, error):
    with pytest.raises(error):
        one(name, data)


def test_a_book_cannot_reach_outside_itself():
    data = made.archive(
        {
            "META-INF/container.xml": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="&x;"/></rootfiles></container>',
        }
    )
    with pytest.raises(Malformed):
        one("a.epub", data)
