"""A world in which every condition of a search's scope keeps back one row, and what must hold in it.

Each row is asked for by a word of its own. Some are planted past every verb and past the foreign
keys: they are what a bug, a stale worker or a lost key would leave behind.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection
from pgvector import HalfVector

from knowledge.models import EmbeddingSpace, Instruction, Item, LexicalEntry
from knowledge.retrieval.pipeline import retrieve
from knowledge.retrieval.statistics import CorpusStatistics
from knowledge.retrieval.types import Selection
from knowledge.text.keys import token_keys
from knowledge.text.tokens import tokenise
from scopes.models import AgentScope
from scopes.resolution import allowlist_for
from tenants.isolation import organization_context
from tests.planting import asked, direction, plant_vectors, space
from tests.world import AT, Tenant, tenant

NEAR, OTHER = direction(99), direction(7)
GONE = {"deleted_at": AT}
# What keeps a row from a caller about whom nothing is known.
CLOSED: dict[str, dict[str, Any]] = {
    "deleted": GONE,
    "internal": {"visibility": "internal"},
    "forchat": {"channel_restricted": True, "channels": ["chat"]},
    "foremirates": {"jurisdiction_restricted": True, "jurisdictions": ["AE"]},
    "future": {"valid_from": AT.replace(year=2027)},
    "expired": {"valid_until": AT},
}
CLOSED_ITEMS: dict[str, dict[str, Any]] = {
    "pending": {"review_status": "pending"},
    "unread": {"parse_status": "failed"},
    "draftanswer": {"kind": "golden"},
    "wronganswer": {"kind": "golden", "published_version": uuid.uuid4(), "dataset": "corrections"},
    "conversation": {"dataset": "conversations"},
}
OPEN_ITEMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "answer": {"kind": "golden", "published_version": uuid.uuid4()},
    "correction": {"dataset": "corrections", "kind": "correction"},
    "begun": {"valid_from": AT},
}
FOLDERS = {
    "inside": "desk", "below": "desk/deep", "beside": "desk-old", "after": "elsewhere", "picked": "far",
}  # fmt: skip


def body_of(name: str) -> str:
    more = " No other row has as much to say of it." * (name == "itemlong")
    return f"The {name} is mentioned here.{more}"


@dataclass
class Heard:
    """Names of rows: those that were found, and those that were told."""

    found: set[str]
    told: set[str]
    contents: list[str] = field(default_factory=list)


@dataclass
class Marked:
    """The world; names of rows by id."""

    acme: Tenant
    globex: Tenant
    agents: dict[str, Any] = field(default_factory=dict)
    contacts: dict[str, Any] = field(default_factory=dict)
    names: dict[UUID, str] = field(default_factory=dict)

    def item(self, name: str, folder: str = "", **columns: Any) -> UUID:
        made = self.acme.item(name, body_of(name), folder=folder)
        with self.acme.context():
            Item.objects.filter(pk=made).update(**columns)
        self.names[made] = name
        return made

    def instruction(self, name: str, directory: str = "", **columns: Any) -> UUID:
        made = self.acme.instruction(name, body_of(name), directory=directory)
        with self.acme.context():
            Instruction.objects.filter(pk=made).update(**columns)
        self.names[made] = name
        return made

    def allowlist(self, agent: str = "wide", contact: str | None = None, **facts: Any) -> Any:
        known = self.contacts[contact] if contact else None
        given = {"channel": "phone", "country": None, "at": AT} | facts
        return allowlist_for(self.agents[agent], contact=known, **given)

    def hear(self, word: str, *, vector: Any = None, **who: Any) -> Heard:
        """Ask twice: with words looked up document by document, and through their index."""
        found: set[str] = set()
        told: set[str] = set()
        contents: list[str] = []
        pk = self.acme.organization.pk
        with organization_context(pk, self.globex.organization.pk):
            allowlist = self.allowlist(**who)
            for rows in (0, 1_000_000):
                with _Frequent(rows):
                    answer = retrieve(asked(pk, word, vector), allowlist, limit=10)
                found |= {self.names.get(row.asset_id, "?") for row in answer.ranked}
                told |= {self.names.get(row.asset_id, "?") for row in answer.results}
                contents += [row.content for row in answer.results]
        return Heard(found, told, contents)

    def is_vacant(self, agent: str) -> tuple[bool, bool]:
        with organization_context(self.acme.organization.pk, self.globex.organization.pk):
            allowlist = self.allowlist(agent)
        scopes = (allowlist.instructions, allowlist.knowledge)
        return tuple(isinstance(one, Selection) and one.is_vacant for one in scopes)  # type: ignore[return-value]


class _Frequent:
    """Let every word be in so many rows."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __enter__(self) -> None:
        self.kept = CorpusStatistics.rows
        CorpusStatistics.rows = self._so_many  # type: ignore[assignment, method-assign]

    def _so_many(self, *_tokens: object) -> int:
        return self.rows

    def __exit__(self, *_error: object) -> None:
        CorpusStatistics.rows = self.kept  # type: ignore[method-assign]


def marked() -> Marked:
    made = Marked(tenant("acme"), tenant("globex"))
    gold, silver = made.acme.segment("gold"), made.acme.segment("silver")
    made.contacts = {
        "golden": made.acme.contact("golden", gold), "silver": made.acme.contact("silver", silver),
    }  # fmt: skip
    for name in (
        "wide",
        "narrow",
        "missing",
        "emptied",
        "vanished",
        "buried",
        "hollow",
        "stray",
        "loose",
    ):
        made.agents[name] = made.acme.agent(name)
    closed = CLOSED | {"forgold": {"segment_restricted": True, "segments": [gold.pk]}}
    for name, columns in closed.items():
        made.item(f"item{name}", **columns)
        made.instruction(f"guide{name}", **columns)
    for name, columns in (CLOSED_ITEMS | OPEN_ITEMS).items():
        made.item(f"item{name}", **columns)
    agents = [made.agents["narrow"].pk]
    made.item("itemfornarrow", "desk", agent_restricted=True, agents=agents)
    for name in ("itemlong", "itemtwice", "itemchanged"):
        made.item(name)
    made.instruction("guideplain")
    made.instruction("guidedraft", status="draft")
    _select(made)
    _plant(made)
    return made


def _select(made: Marked) -> None:
    rows = {name: made.item(f"item{name}", folder) for name, folder in FOLDERS.items()}
    guides = {
        "inside": made.instruction("guideinside", "tree"),
        "below": made.instruction("guidebelow", "tree/branch"),
        "beside": made.instruction("guidebeside", "other"),
        "picked": made.instruction("guidepicked"),
    }
    narrow, vanished = made.agents["narrow"], made.agents["vanished"]
    tree = made.acme.directory("tree")
    made.acme.pick(narrow, "knowledge", rows=[rows["picked"]], containers=["help/desk"])
    made.acme.pick(narrow, "instruction", rows=[guides["picked"]], containers=[tree])
    gone, draft = made.item("itemgone", "gone"), made.instruction("guidegone", "gone")
    made.acme.pick(vanished, "knowledge", rows=[gone], containers=["help/gone"])
    made.acme.pick(vanished, "instruction", rows=[draft])
    buried = made.instruction("guideburied")
    made.acme.pick(made.agents["buried"], "instruction", rows=[buried])
    made.acme.change_item(gone, **GONE)
    # What lies in neither of them lies in other directories, and in folders that come after.
    hollow = made.acme.directory("hollow")
    made.acme.pick(made.agents["hollow"], "knowledge", containers=["help/blank"])
    made.acme.pick(made.agents["hollow"], "instruction", containers=[hollow])
    with made.acme.context():
        Instruction.objects.filter(pk=draft).update(status="draft")
        Instruction.objects.filter(pk=buried).update(**GONE)
        AgentScope.objects.filter(agent=made.agents["missing"]).delete()
        AgentScope.objects.filter(agent=made.agents["emptied"]).update(mode="selected")


PLANT = {
    "item": "INSERT INTO scopes_itempick (id, organization_id, agent_id, item_id) VALUES (gen_random_uuid(), %s, %s, %s)",
    "instruction": "INSERT INTO scopes_instructionpick (id, organization_id, agent_id, instruction_id)"
    " VALUES (gen_random_uuid(), %s, %s, %s)",
    "folder": "INSERT INTO scopes_folderpick (id, organization_id, agent_id, folder_key) VALUES (gen_random_uuid(), %s, %s, %s)",
    "directory": "INSERT INTO scopes_directorypick (id, organization_id, agent_id, directory_id)"
    " VALUES (gen_random_uuid(), %s, %s, %s)",
    "place": "INSERT INTO tenants_contactsegment (id, organization_id, contact_id, segment_id) VALUES (gen_random_uuid(), %s, %s, %s)",
    "mode": "INSERT INTO scopes_agentscope (id, organization_id, agent_id, category, mode, version)"
    " VALUES (gen_random_uuid(), %s, %s, %s, 'all', 1)",
}


def _plant(made: Marked) -> None:
    """Rows of globex that name what is acme's, and the other way round; no key would let them in."""
    mine, theirs = made.acme.organization.pk, made.globex.organization.pk
    ids = {name: pk for pk, name in made.names.items()}
    foreign_item = made.globex.item("foreign", "The foreign is mentioned here.")
    foreign_guide = made.globex.instruction(
        "abroad", "The abroad is mentioned here.", directory="abroad"
    )
    made.names |= {foreign_item: "foreign", foreign_guide: "abroad"}
    abroad = made.globex.directory("abroad")
    under = made.globex.directory("under")
    tree = made.acme.directory("tree")
    narrow, stray = made.agents["narrow"].pk, made.agents["stray"].pk
    smuggled = made.instruction("guidesmuggled")
    strayed = made.instruction("guidestrayed")
    golden = made.contacts["silver"].pk
    gold = made.acme.organization.segment_set
    loose = made.agents["loose"]
    with organization_context(mine, theirs), connection.cursor() as cursor:
        segment = gold.get(slug="gold").pk
        cursor.execute("SET LOCAL session_replication_role = replica")
        for what, organization, who, target in (
            ("item", theirs, narrow, ids["itemafter"]),
            ("instruction", theirs, narrow, ids["guidebeside"]),
            ("folder", theirs, narrow, "help/elsewhere"),
            ("directory", theirs, narrow, made.acme.directory("other")),
            ("place", theirs, golden, segment),
            ("mode", theirs, made.agents["emptied"].pk, "knowledge"),
            ("mode", theirs, made.agents["emptied"].pk, "instruction"),
            ("item", mine, stray, foreign_item),
            ("instruction", mine, stray, foreign_guide),
            ("directory", mine, stray, abroad),
            ("folder", mine, stray, "help/strange"),
            ("item", mine, loose.pk, ids["itempicked"]),
            ("instruction", mine, loose.pk, ids["guidepicked"]),
        ):
            cursor.execute(PLANT[what], [organization, who, target])
        cursor.execute(
            "UPDATE scopes_agentscope SET mode = 'selected' WHERE agent_id = %s AND organization_id = %s",
            [stray, mine],
        )
        # A folder below the picked one, and one that was picked, that belong to globex.
        cursor.execute(
            "UPDATE knowledge_instructiondirectory SET parent_id = %s WHERE id = %s", [tree, under]
        )
        for guide, directory in ((smuggled, under), (strayed, abroad)):
            cursor.execute(
                "UPDATE knowledge_instruction SET directory_id = %s WHERE id = %s",
                [directory, guide],
            )
        cursor.execute(
            "UPDATE knowledge_item SET folder_key = 'help/strange' WHERE id = %s", [foreign_item]
        )
        cursor.execute("SET LOCAL session_replication_role = origin")
        _plant_index(mine, theirs, ids)


def _plant_index(mine: int, theirs: int, ids: dict[str, UUID]) -> None:
    """Words and vectors of another organization, of another space and of before the last change."""
    row = ids["itemplain"]
    for organization, position, generation, word in (
        (theirs, 0, 1, "foreignword"), (theirs, 3, 1, "foreignword"),
        (mine, 7, 99, "staleword"), (mine, 1, 1, "secondword"),
    ):  # fmt: skip
        LexicalEntry.objects.create(
            organization_id=organization, category="knowledge",
            asset_id=ids["itemtwice"] if word == "secondword" else row, position=position,
            # The last passage of a row ends where its text does; what is not of it does not.
            generation=generation, start=4, language="en",
            end=len(body_of("itemtwice")) if word == "secondword" else 7,
            tokens=sorted(token_keys(mine, tokenise(word, "en"))),
        )  # fmt: skip
    changed = LexicalEntry.objects.filter(organization_id=mine, asset_id=ids["itemchanged"])
    changed.update(generation=99, start=4, end=7)
    plant_vectors(mine, {ids["itembegun"]: NEAR, ids["itemchanged"]: OTHER})
    # Deleted a moment ago: its vector is still there, as good as any.
    plant_vectors(mine, {ids["itemdeleted"]: NEAR})
    plant_vectors(theirs, {ids["itemanswer"]: NEAR})
    plant_vectors(mine, {ids["itemcorrection"]: NEAR}, generation=99)
    plant_vectors(mine, {ids["itemafter"]: NEAR})
    other, _ = EmbeddingSpace.objects.get_or_create(
        key="test:other:8",
        defaults={
            "provider": "test", "model": "other", "dimensions": 8, "chunker_version": "1",
            "status": "retired",
        },
    )  # fmt: skip
    assert space().pk != other.pk
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "UPDATE knowledge_vector SET space_id = %s WHERE asset_id = %s AND embedding = %s::halfvec",
            [other.pk, ids["itemafter"], HalfVector(NEAR).to_text()],
        )
        cursor.execute("SET LOCAL session_replication_role = origin")
