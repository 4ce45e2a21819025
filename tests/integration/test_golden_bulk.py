"""Answers go in and out as files; a file with one wrong line changes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import given
from hypothesis import strategies as st

from golden.bulk.exporting import as_csv, as_json_lines, exported
from golden.bulk.importing import import_rows
from golden.bulk.reading import read_rows
from golden.errors import ImportRefused, RoleMissing
from golden.models import AnswerDraft, GoldenAnswer
from tenants.models import User
from tests.answers import CONTENT, Staff
from tests.staff import browser

pytestmark = pytest.mark.django_db
PLAIN = "question,answer\nWhere?,Here.\n"


@pytest.fixture
def staff():
    return Staff()


def bring(staff, raw, role="author", **options):
    data = raw if isinstance(raw, bytes) else raw.encode()
    return import_rows(staff.organization, read_rows(data), staff.act(role), **options)


def drafts(staff):
    with staff.tenant.context():
        return list(AnswerDraft.objects.order_by("question").values_list("question", "answer"))


def refused(staff, raw, **options):
    with pytest.raises(ImportRefused) as refused:
        bring(staff, raw, **options)
    return refused.value.data["lines"]


def wrong(staff, raw):
    lines = refused(staff, raw)
    assert drafts(staff) == []
    return lines


@pytest.mark.parametrize(
    "raw",
    [
        PLAIN,
        "\ufeff" + PLAIN,
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.encode("utf-16"),
        '"question","answer"\n"Where?","Here."\n\n',
        '{"question": "Where?", "answer": "Here."}\n',
        '\ufeff{"question": "Where?", "answer": "Here."}',
    ],
)
def test_every_way_in_which_tools_write_such_files_is_read(staff, raw):
    assert bring(staff, raw) == (1, 0)
    assert drafts(staff) == [("Where?", "Here.")]


def test_line_breaks_and_quotes_within_a_cell_are_kept(staff):
    bring(staff, 'question,answer\nWhere?,"First ""here"".\nThen there."\n')
    assert drafts(staff) == [("Where?", 'First "here".\nThen there.')]


def test_what_is_wrong_is_told_by_line_and_nothing_is_imported(staff):
    raw = f"question,answer\nGood?,Yes.\nTwo\n lines?,Fine.\n,No question.\nLong?,{'x' * 1_201}\n"
    raw = raw.replace("Two\n lines?", '"Two\n lines?"')
    assert wrong(staff, raw) == {
        5: "question: This is needed.",
        6: "answer: It is spoken whole, so it has at most 1200 characters.",
    }


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("question,reply\nWhere?,Here.\n", 1),
        ("question,answer,answer\nWhere?,Here.,There.\n", 1),
        ("question,answer\nWhere?,Here.\nWhat?\n", 3),
        ("question,answer\nWhere?,Here.,There.\n", 2),
        ('question,answer\nWhere?,"Here.\n', 2),
        (b"question,answer\nWhere?,\xff\xfe.\n", 2),
        ('{"question": "Where?", "answer": "Here."}\n{"question": \n', 2),
        ('{"question": "Where?", "answer": ["Here."]}\n', 1),
        ('{"question": "Where?", "answer": "Here.", "odd": 1}\n', 1),
        ("question,answer,agents\nWhere?,Here.,nobody-like-that\n", 2),
        ("question,answer,valid_from\nWhere?,Here.,tomorrow\n", 2),
        ("id,question,answer\nnot-an-id,Where?,Here.\n", 2),
        ("question,answer\nWhere?,He\x00re.\n", 2),
    ],
)
def test_a_file_that_is_wrong_says_in_which_line(staff, raw, line):
    assert list(wrong(staff, raw)) == [line]


def test_a_row_with_an_id_changes_the_draft_of_that_answer_only(staff):
    pk = staff.published()
    assert bring(staff, f"id,question,answer\n{pk},Where now?,There.\n") == (0, 1)
    assert drafts(staff) == [("Where now?", "There.")]
    assert staff.heard() == [("golden", CONTENT.answer)]


def test_a_foreign_id_is_not_there(staff):
    theirs = Staff("globex").published()
    lines = wrong(staff, f"id,question,answer\n{theirs},Where now?,There.\n")
    assert lines == {2: "There is no such answer."}


def test_importing_needs_the_role(staff):
    with pytest.raises(RoleMissing):
        bring(staff, PLAIN, role="viewer")


GATED = replace(
    CONTENT,
    answer="=SUM(1) is said\nin two lines.",
    channels=("chat", "phone"),
    channel_restricted=True,
    segment_restricted=True,
    jurisdictions=("AE",),
    jurisdiction_restricted=True,
)


@pytest.mark.parametrize("write", [as_csv, as_json_lines])
def test_what_is_exported_can_be_imported_and_is_the_same(staff, write):
    content = replace(GATED, agents=(staff.agent.pk,), agent_restricted=True)
    pk = staff.write(content)
    with staff.tenant.context():
        file = write(exported(staff.organization.pk))
        before = GoldenAnswer.objects.get(pk=pk).draft
    bring(staff, file)
    with staff.tenant.context():
        after = GoldenAnswer.objects.get(pk=pk).draft
    same = ("question", "answer", "paraphrases", "channels", "segments", "segment_restricted",
            "agents", "agent_restricted", "jurisdictions", "folder")  # fmt: skip
    assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same]


def test_a_spreadsheet_takes_no_cell_for_a_formula(staff):
    staff.write(GATED)
    with staff.tenant.context():
        file = as_csv(exported(staff.organization.pk))
    assert ",=" not in file
    assert '"=' not in file


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused_by_line(raw):
    try:
        lines = dict.fromkeys(row.line for row in read_rows(raw))
    except ImportRefused as refused:
        lines = refused.data["lines"]
    assert all(isinstance(line, int) for line in lines)


def test_a_wrong_file_is_told_on_the_page(staff):
    client = browser(User.objects.get(pk=staff.people["author"].user_id))
    file = SimpleUploadedFile("answers.csv", b"question,answer\n,Here.\n")
    answer = client.post("/admin/golden-import/", {"file": file})
    assert answer.status_code == 422
    assert "question: This is needed." in answer.content.decode()


def test_a_file_is_imported_and_exported_on_the_page(staff):
    client = browser(User.objects.get(pk=staff.people["author"].user_id))
    file = SimpleUploadedFile("answers.csv", PLAIN.encode())
    assert client.post("/admin/golden-import/", {"file": file}).status_code == 302
    told = client.get("/admin/golden-export/csv/")
    assert told["Content-Disposition"].startswith("attachment")
    assert "Where?" in told.content.decode()


RULES = "question,answer\nNo advice,Never give legal advice.\n"


def test_rules_come_in_from_a_file_as_drafts_of_rules(staff):
    bring(staff, RULES, kind="rule")
    with staff.tenant.context():
        assert [row.kind for row in GoldenAnswer.objects.all()] == ["rule"]
    assert drafts(staff) == [("No advice", "Never give legal advice.")]


def test_a_rule_may_be_longer_than_what_is_spoken(staff):
    assert bring(staff, f"question,answer\nLong,{'x ' * 900}\n", kind="rule") == (1, 0)


@pytest.mark.parametrize(("theirs", "kind"), [("rule", "answer"), ("answer", "rule")])
def test_a_file_of_one_kind_changes_none_of_the_other(staff, theirs, kind):
    pk = staff.published(kind=theirs)
    lines = refused(staff, f"id,question,answer\n{pk},Where now?,There.\n", kind=kind)
    assert lines == {2: "There is no such answer."}


@pytest.mark.parametrize("write", [as_csv, as_json_lines])
def test_exported_rules_can_be_imported_and_are_no_answers(staff, write):
    staff.published()
    pk = staff.published(replace(GATED, answer="Never."), kind="rule")
    with staff.tenant.context():
        rows = exported(staff.organization.pk, kind="rule")
    assert [row["id"] for row in rows] == [str(pk)]
    assert bring(staff, write(rows), kind="rule") == (0, 1)


def test_rules_are_imported_and_exported_on_the_page(staff):
    client = browser(User.objects.get(pk=staff.people["author"].user_id))
    file = SimpleUploadedFile("rules.csv", RULES.encode())
    told = client.post("/admin/golden-import/?kind=rule", {"file": file})
    assert told.headers["Location"].endswith("&status=draft&kind=rule")
    assert "No advice" in client.get(told.headers["Location"]).content.decode()
    assert "No advice" in client.get("/admin/golden-export/csv/?kind=rule").content.decode()
    assert "No advice" not in client.get("/admin/golden-export/csv/").content.decode()
