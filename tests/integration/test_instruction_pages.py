"""The pages on which staff draft, compare, publish, file and delete instructions."""

from __future__ import annotations

import uuid

import pytest
from lxml import html

from knowledge.editor.rendering import rendered
from knowledge.models import Instruction, InstructionDirectory, InstructionDraft
from tenants.models import Membership, Role, User
from tests.staff import browser, office, person

pytestmark = pytest.mark.django_db


class Pages:
    """Acme's people at their browsers."""

    def __init__(self):
        self.staff = office()
        self.acme = self.staff.acme
        organization = self.acme.organization
        for role in (Role.AUTHOR, Role.PUBLISHER):
            self.staff.people[str(role)] = person(str(role), (organization, role))
        self.pk = self.staff.rows["instruction"].pk
        self.place = self.staff.rows["instructiondirectory"].pk

    def get(self, who, path, **query):
        return self.staff.as_(who).get(f"/admin/{path}", query)

    def text(self, who, path, **query):
        page = html.fromstring(self.get(who, path, **query).content.decode())
        return " ".join(page.get_element_by_id("content-main").text_content().split())

    def sent(self, answer):
        page = html.fromstring(answer.content.decode())
        (form,) = [one for one in page.forms if "editor__form" in (one.get("class") or "")]
        told: dict[str, list[str]] = {}
        for name, value in form.form_values():
            # A browser leaves out the line end that follows the tag of a text box.
            told.setdefault(name, []).append(value.removeprefix("\n"))
        return told

    def form(self, who, path, **query):
        return self.sent(self.get(who, path, **query))

    def send(self, who, path, changes=None, **query):
        address = f"/admin/{path}"
        if query:
            address += "?" + "&".join(f"{name}={value}" for name, value in query.items())
        sent = {**self.form(who, path, **query), **(changes or {})}
        return self.staff.as_(who).post(address, sent)

    def one(self, *path):
        return "/".join(("instructions", str(self.pk), *path, ""))

    def decide(self, who, name, **query):
        return self.send(who, self.one("decide", name), **query)

    def row(self):
        with self.acme.context():
            return Instruction.objects.get(pk=self.pk)

    def draft(self):
        with self.acme.context():
            return InstructionDraft.objects.filter(instruction_id=self.pk).first()


@pytest.fixture
def pages():
    return Pages()


@pytest.mark.parametrize("who", ["editor", "author", "admin"])
def test_writers_draft_and_nothing_that_is_served_changes(pages, who):
    answer = pages.send(who, pages.one("edit"), {"body": "Say good day."})
    assert answer.status_code == 302
    assert (pages.row().body, pages.draft().body) == ("Say hello.", "Say good day.")
    text = pages.text(who, pages.one())
    assert "What the draft would change" in text


def test_a_publisher_publishes_what_the_page_showed(pages):
    pages.send("editor", pages.one("edit"), {"body": "Say good day."})
    assert "callers hear the new text" in pages.text("publisher", pages.one("decide", "publish"))
    assert pages.decide("publisher", "publish").status_code == 302
    assert (pages.row().body, pages.draft()) == ("Say good day.", None)
    assert "publisher published version 2." in pages.text("viewer", pages.one())


def test_a_publish_of_what_changed_meanwhile_is_asked_again(pages):
    pages.send("editor", pages.one("edit"), {"body": "Say good day."})
    shown = pages.form("publisher", pages.one("decide", "publish"))
    pages.send("author", pages.one("edit"), {"body": "Say good evening."})
    answer = pages.staff.as_("publisher").post(f"/admin/{pages.one('decide', 'publish')}", shown)
    assert answer.status_code == 409
    assert "evening" in answer.content.decode()
    assert pages.row().body == "Say hello."


def test_a_stale_tab_sees_both_texts_and_loses_nothing(pages):
    stale = pages.form("editor", pages.one("edit"))
    pages.send("author", pages.one("edit"), {"body": "Theirs, newer."})
    address = f"/admin/{pages.one('edit')}"
    answer = pages.staff.as_("editor").post(address, {**stale, "body": "Mine."})
    page = answer.content.decode()
    assert (answer.status_code, "newer" in page, "Mine." in page) == (409, True, True)
    assert pages.staff.as_("editor").post(address, pages.sent(answer)).status_code == 302
    assert pages.draft().body == "Mine."


def test_an_untouched_form_makes_no_draft(pages):
    assert pages.send("editor", pages.one("edit")).status_code == 302
    assert pages.draft() is None


def test_a_preview_shows_markdown_and_saves_nothing(pages):
    answer = pages.send(
        "editor", pages.one("edit"), {"body": "# Steps\n\n1. *Greet*", "preview": "1"}
    )
    page = answer.content.decode()
    assert "<h4>Steps</h4>" in page
    assert "<em>Greet</em>" in page
    assert pages.draft() is None


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "![x](https://elsewhere.example/pixel.png)",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "<iframe src='https://elsewhere.example'></iframe>",
        "<style>body{display:none}</style>",
        "<a href='x' onclick='alert(1)'>x</a>",
    ],
)
def test_nothing_active_comes_out_of_a_text(text):
    page = html.fragment_fromstring(rendered(text), create_parent=True)
    tags = {element.tag for element in page.iter()}
    assert not tags & {"script", "img", "iframe", "style"}
    for element in page.iter():
        assert not [name for name in element.attrib if name.startswith("on")]
        assert not element.get("href", "").startswith(("javascript", "data"))


def test_gates_are_drafted_with_the_text(pages):
    changes = {"channel_restricted": "on", "channels": "whatsapp"}
    pages.send("editor", pages.one("edit"), changes)
    assert (pages.row().channels, pages.draft().channels) == ([], ["whatsapp"])
    assert "Only for these channels: whatsapp." in pages.text("editor", pages.one())


def test_a_list_without_its_tick_is_refused(pages):
    answer = pages.send("editor", pages.one("edit"), {"channels": "whatsapp"})
    assert "would restrict nothing" in answer.content.decode()


def test_a_foreign_segment_cannot_be_chosen(pages):
    theirs = pages.staff.globex.segment("platinum")
    changes = {"segment_restricted": "on", "segments": [str(theirs.pk)]}
    assert pages.send("editor", pages.one("edit"), changes).status_code == 200
    assert pages.draft() is None


def test_a_new_instruction_lies_where_it_was_begun(pages):
    query = {"organization": "acme", "at": pages.place}
    answer = pages.send(
        "author", "instructions/new/", {"title": "Bye", "body": "Say bye."}, **query
    )
    assert answer.status_code == 302
    with pages.acme.context():
        made = Instruction.objects.get(title="Bye")
    assert (made.status, made.directory_id) == ("draft", pages.place)


def test_an_earlier_text_becomes_the_draft(pages):
    pages.send("admin", pages.one("edit"), {"body": "Say good day."})
    pages.decide("admin", "publish")
    assert "Say hello." in pages.text("viewer", pages.one("versions", "1"))
    pages.decide("editor", "use-version", version=1)
    assert (pages.row().body, pages.draft().body) == ("Say good day.", "Say hello.")


def test_a_draft_is_thrown_away_and_a_text_is_taken_back(pages):
    pages.send("editor", pages.one("edit"), {"body": "Say good day."})
    pages.decide("editor", "discard")
    assert pages.draft() is None
    pages.decide("publisher", "take-back")
    assert pages.row().status == "draft"


def test_a_deleted_instruction_is_restored_from_its_page(pages):
    answer = pages.decide("editor", "delete")
    assert answer.headers["Location"] == f"/admin/{pages.one()}"
    assert "it can be restored until" in pages.text("viewer", pages.one())
    assert "Greeting" in pages.text("viewer", "instructions/deleted/")
    assert "Greeting" not in pages.text("viewer", "instructions/", at=pages.place)
    pages.decide("editor", "restore")
    assert pages.row().deleted_at is None


def test_what_no_longer_applies_is_not_done(pages):
    address = f"/admin/{pages.one('decide', 'restore')}"
    answer = pages.staff.as_("editor").post(address, {"seen": "x"}, follow=True)
    assert "Nothing was done" in answer.content.decode()


def test_an_instruction_is_moved(pages):
    other = pages.acme.directory("elsewhere/deeper")
    assert "elsewhere/deeper" in pages.get("editor", pages.one("move")).content.decode()
    pages.send("editor", pages.one("move"), {"place": str(other)})
    assert pages.row().directory_id == other


def test_an_instruction_that_was_filed_elsewhere_is_not_taken_back_by_a_stale_page(pages):
    stale = pages.form("editor", pages.one("move"))
    other = pages.acme.directory("elsewhere")
    pages.send("editor", pages.one("move"), {"place": str(other)})
    address = f"/admin/{pages.one('move')}"
    answer = pages.staff.as_("editor").post(address, stale, follow=True)
    assert "filed it elsewhere" in answer.content.decode()
    assert pages.row().directory_id == other


def directory(pages, verb, who="editor", changes=None):
    return pages.send(who, f"instruction-directories/{pages.place}/{verb}/", changes)


def test_a_directory_is_made_renamed_and_moved(pages):
    query = {"organization": "acme", "at": pages.place}
    pages.send("editor", "instruction-directories/new/", {"name": "drawer"}, **query)
    directory(pages, "rename", changes={"name": "counter"})
    around = pages.acme.directory("around")
    directory(pages, "move", changes={"place": str(around)})
    with pages.acme.context():
        names = {"name": "drawer", "parent__name": "counter", "parent__parent__name": "around"}
        assert InstructionDirectory.objects.filter(**names).exists()


def test_a_name_that_is_taken_is_refused_beside_its_field(pages):
    pages.acme.directory("taken")
    answer = directory(pages, "rename", changes={"name": "taken"})
    assert "has this name already" in answer.content.decode()


@pytest.mark.parametrize(("how", "left"), [("up", True), ("all", False)])
def test_deleting_a_directory_asks_what_is_to_become_of_what_is_in_it(pages, how, left):
    page = pages.text("editor", f"instruction-directories/{pages.place}/delete/")
    assert "1 instruction lies in it" in page
    assert "stay restricted" in page
    assert directory(pages, "delete").status_code == 200
    directory(pages, "delete", changes={"how": how})
    row = pages.row()
    assert (row.deleted_at is None, row.directory_id is None) == (left, left)


def test_a_directory_is_restored_with_what_went_with_it(pages):
    directory(pages, "delete", changes={"how": "all"})
    assert "Restore desk" in pages.text("editor", "instructions/deleted/")
    address = f"/admin/instruction-directories/{pages.place}/restore/"
    assert pages.staff.as_("editor").get(address).status_code == 405
    pages.staff.as_("editor").post(address)
    assert pages.row().deleted_at is None
    assert "Greeting" in pages.text("viewer", "instructions/", at=pages.place)


def test_the_tree_is_walked_and_searched(pages):
    assert "desk" in pages.text("viewer", "instructions/")
    assert "Greeting" in pages.text("viewer", "instructions/", at=pages.place)
    assert "Greeting" in pages.text("viewer", "instructions/", q="hello")
    assert "Nothing has" in pages.text("viewer", "instructions/", q="zeppelin")


LINES = ".//ul[@class='editor__directories']//a | .//th[@scope='row']/a"


def content(answer):
    return html.fromstring(answer.content.decode()).get_element_by_id("content-main")


def test_pages_are_turned_forth_and_back_without_losing_a_line(pages):
    for number in range(60):
        pages.acme.directory(f"d{number:03}")
        pages.acme.instruction(f"i{number:03}")
    seen: list[str] = []
    query: dict[str, str] = {}
    turned = []
    while True:
        page = content(pages.get("viewer", "instructions/", **query))
        lines = page.xpath(LINES)
        turned.append([line.text_content() for line in lines])
        seen += turned[-1]
        further = page.xpath(".//a[.='Next 50']/@href")
        if not further:
            break
        query = dict(pair.split("=", 1) for pair in further[0].lstrip("?").split("&"))
    names = ["desk", *(f"d{n:03}" for n in range(60))]
    assert seen == [*sorted(names), *(f"i{n:03}" for n in range(60))]
    assert [len(lines) for lines in turned] == [50, 50, 21]
    back = page.xpath(".//a[.='Previous 50']/@href")[0]
    again = content(pages.staff.as_("viewer").get(f"/admin/instructions/{back}"))
    assert [line.text_content() for line in again.xpath(LINES)] == turned[1]


VERBS = {
    "instructions/{pk}/edit/": ("editor", "author"),
    "instructions/{pk}/move/": ("editor", "publisher"),
    "instructions/{pk}/decide/publish/": ("publisher",),
    "instructions/{pk}/decide/take-back/": ("publisher",),
    "instructions/{pk}/decide/discard/": ("editor", "author", "publisher"),
    "instructions/{pk}/decide/delete/": ("editor", "publisher"),
    "instruction-directories/{place}/rename/": ("editor", "publisher"),
    "instruction-directories/{place}/move/": ("editor", "publisher"),
    "instruction-directories/{place}/delete/": ("editor", "publisher"),
}


@pytest.mark.parametrize("path", VERBS)
def test_each_page_is_for_its_roles_and_for_no_other(pages, path):
    pages.send("editor", pages.one("edit"), {"body": "Say good day."})
    address = path.format(pk=pages.pk, place=pages.place)
    # A publisher may write, too: the role includes the author's.
    allowed = {*VERBS[path], *(["publisher"] if "author" in VERBS[path] else [])}
    for who in ("viewer", "editor", "author", "publisher"):
        for method in ("get", "post"):
            answer = getattr(pages.staff.as_(who), method)(f"/admin/{address}")
            assert (answer.status_code != 403) == (who in allowed), (who, method)


@pytest.mark.parametrize("who", ["rival", "stranger"])
def test_another_organizations_instructions_are_as_absent_as_nobodys(pages, who):
    client = pages.staff.as_(who)
    paths = [*VERBS, "instructions/{pk}/", "instructions/{pk}/versions/1/"]
    for path in paths:
        theirs = path.format(pk=pages.pk, place=pages.place)
        missing = path.format(pk=uuid.uuid4(), place=uuid.uuid4())
        for method in ("get", "post"):
            answers = [getattr(client, method)(f"/admin/{one}") for one in (theirs, missing)]
            assert {one.status_code for one in answers} == {404}, path
            assert answers[0].content == answers[1].content, path
    if who == "rival":
        foreign = {"organization": "globex", "at": pages.place}
        assert client.get("/admin/instructions/", foreign).status_code == 404
        named = client.get("/admin/instructions/", {"organization": "acme"})
        assert "Greeting" not in named.content.decode()


def test_two_tabs_with_two_organizations_do_not_disturb_each_other(pages):
    both = person("both", (pages.acme.organization, "editor"),
                  (pages.staff.globex.organization, "viewer"))  # fmt: skip
    client = browser(both)
    acme, globex = (
        client.get("/admin/instructions/", {"organization": slug}).content.decode()
        for slug in ("acme", "globex")
    )
    assert ("Instructions of Acme" in acme, "Instructions of Globex" in globex) == (True, True)
    assert "Belongs to Acme." in client.get(f"/admin/{pages.one()}").content.decode()
    assert client.get("/admin/instructions/new/?organization=globex").status_code == 403
    assert client.get("/admin/instructions/new/?organization=acme").status_code == 200


def test_a_role_that_is_taken_away_is_gone_from_the_next_request(pages):
    Membership.objects.filter(user=User.objects.get(username="editor")).update(role="viewer")
    assert pages.get("editor", pages.one("edit")).status_code == 403
