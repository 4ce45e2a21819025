"""A result holds what it was found for, however long the text around it is, and tells facts apart."""

from __future__ import annotations

import pytest

from knowledge.retrieval.siblings import ASK_WHICH
from knowledge.retrieval.steps import needed
from tests.embedders import CountingEmbedder
from tests.voice import runtime
from tests.world import tenant

pytestmark = pytest.mark.django_db
EACH = 1_200


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


class Desk:
    """An organization, its agent that may say everything, and its caller."""

    def __init__(self):
        self.tenant = tenant("acme")
        self.agent = self.tenant.agent()
        self.voice = runtime(self.tenant.organization)
        self.session = self.voice.session(self.agent)

    def ask(self, query):
        answer = self.voice.search(self.agent, self.session, query).json()
        assert answer["status"] == "ok", answer
        return answer

    def first(self, query):
        return self.ask(query)["results"][0]["content"]


@pytest.fixture
def desk():
    return Desk()


def filler(count, word="pelican"):
    return " ".join(f"The {word} clerk notes entry {n} in the ledger." for n in range(count))


MATCHING = "A flamingo voucher is refunded by wire within nine days."
ASKED = "flamingo voucher refunded by wire"


def test_of_a_long_section_its_first_line_and_what_matches_are_read_out(desk):
    body = f"# Vouchers\n\nBe kind.\n\n## Refunds\n\n{filler(70)} {MATCHING}\n\n## Other\n\nNone.\n"
    desk.tenant.instruction("Vouchers", body)
    content = desk.first(ASKED)
    assert MATCHING in content
    assert content.startswith("## Refunds\n…\n")
    assert len(content) <= EACH


def test_a_long_step_is_read_out_where_it_matches_though_it_is_one_line(desk):
    desk.tenant.instruction("Vouchers", f"Step 1. Greet.\n\nStep 2. {filler(70)} {MATCHING}\n")
    content = desk.first(ASKED)
    assert MATCHING in content
    assert "Step 2. The pelican clerk notes entry 0 in the ledger." in content
    assert len(content) <= EACH


def test_a_long_prerequisite_takes_no_room_from_the_step_that_matches(desk):
    body = f"Step 3. {filler(24)}\n\nStep 4. {filler(4)} {MATCHING}\n\nStep 5. Say goodbye.\n"
    desk.tenant.instruction("Vouchers", body)
    content = desk.first(ASKED)
    assert MATCHING in content
    assert content.startswith("Step 3. The pelican")
    assert "ledger.\n\nStep 4. The pelican" in content
    assert EACH - 60 < len(content) <= EACH


def test_of_an_instruction_as_long_as_a_book_only_what_lies_around_is_read(desk, monkeypatch):
    chapters = "".join(f"## Chapter {n}\n\n{filler(60)}\n\n" for n in range(300))
    desk.tenant.instruction("Manual", f"{chapters}## Refunds\n\n{MATCHING}\n\n{chapters}")
    read = []

    def note(body, focus, *, near):
        read.append(len(body))
        return needed(body, focus, near=near)

    monkeypatch.setattr("knowledge.retrieval.readout.needed", note)
    assert desk.first(ASKED).startswith(f"## Refunds\n\n{MATCHING}")
    assert read
    assert max(read) < 30_000


def test_step_one_is_read_out_whole_before_a_long_step_two(desk):
    body = f"Step 1. {filler(4)} {MATCHING}\n\nStep 2. {filler(40)}\n"
    desk.tenant.instruction("Vouchers", body)
    content = desk.first(ASKED)
    assert content.startswith(f"Step 1. {filler(4)} {MATCHING}\n\nStep 2. The pelican")
    assert len(content) <= EACH


def rows(count):
    return "".join(f"| Card {n} | {n * 11} | {n * 510} | 2.5 % |\n" for n in range(1, count + 1))


TABLE = f"| Card | Monthly | Limit | Cash fee |\n| --- | --- | --- | --- |\n{rows(60)}"


def test_a_later_part_of_a_table_names_its_section_and_its_columns(desk):
    desk.tenant.item("Cards", f"# Cards\n\n## Fees of 2026\n\n{TABLE}\n## Other\n\nNothing.\n")
    content = desk.first("card 40 limit 20400")
    assert content.startswith("## Fees of 2026\n\n| Card | Monthly | Limit | Cash fee |\n| Card ")
    assert "| Card 40 | 440 | 20400 | 2.5 % |" in content
    assert len(content) <= EACH


def test_a_table_that_follows_another_has_columns_of_its_own(desk):
    desk.tenant.item("Cards", f"| Branch | Town |\n| --- | --- |\n| One | Dubai |\n\n{TABLE}")
    content = desk.first("card 40 limit 20400")
    assert content.startswith("| Card | Monthly | Limit | Cash fee |\n| Card ")


def test_a_table_in_an_instruction_that_is_cut_names_its_columns(desk):
    desk.tenant.instruction("Cards", f"Step 1. Greet.\n\nStep 2. Read the fee.\n\n{TABLE}")
    content = desk.first("card 40 limit 20400")
    assert "Step 2. Read the fee.\n…\n| Card | Monthly | Limit | Cash fee |\n| Card " in content
    assert "| Card 40 | 440 | 20400 | 2.5 % |" in content
    assert len(content) <= EACH


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The pelican fee is 5 €.", "The pelican fee is 5 $."),
        ("Pelican rate: -5", "Pelican rate: 5"),
        ("Pelican payment < 100", "Pelican payment > 100"),
        ("Pelican payment ≤ 100", "Pelican payment ≥ 100"),
        ("The pelican course teaches C++.", "The pelican course teaches C#."),
        ("The pelican course teaches C.", "The pelican course teaches C#."),
        ("A pelican discount of 5 %", "A pelican discount of 5"),
        ("A pelican balance of +5", "A pelican balance of −5"),
        ("A pelican fee of 1.5", "A pelican fee of 15"),
        ("The pelican desk is open 3-5", "The pelican desk is open 3, 5"),
        ("| Pelican | ✓ |", "| Pelican | ✗ |"),
    ],
)
def test_facts_that_differ_by_a_sign_are_both_told(desk, one, other):
    for name, body in (("Voyager pelican", one), ("Nomad pelican", other)):
        desk.tenant.item(name, body)
    assert {r["content"] for r in desk.ask("pelican")["results"]} == {one, other}


def test_two_editions_that_differ_by_a_currency_alone_are_asked_about(desk):
    desk.tenant.item("Fees of the Voyager card", "The card costs 5 € in fees.")
    desk.tenant.item("Fees of the Nomad card", "The card costs 5 $ in fees.")
    assert desk.ask("card fees")["guidance"] == ASK_WHICH


@pytest.mark.parametrize(
    "again",
    [
        "## The pelican fee\n\nIt is 5 €",
        "- The pelican fee: it is 5€.",
        "**The pelican fee**: it is 5 €!",
    ],
)
def test_what_differs_by_layout_alone_is_told_once(desk, again):
    desk.tenant.item("Voyager pelican", "The pelican fee\nIt is 5 €.")
    desk.tenant.item("Nomad pelican", again)
    assert len(desk.ask("pelican")["results"]) == 1
