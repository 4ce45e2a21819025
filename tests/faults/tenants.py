"""Organizations with a word of their own in every text, and the account of what a fault has done to them.

Nothing lost: what was acknowledged is there, and the index holds it, once. Nothing leaked: no answer
to an organization, and no log, metric or message at all, has a word of another, and nobody was told
what no caller may hear.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.test import Client

from config.demo_vectors import index_now
from knowledge.embedding.protocol import Embedder
from knowledge.embedding.spaces import ensure_space
from knowledge.indexing.reconciling import reconcile
from knowledge.indexing.status import waiting
from knowledge.passages import CHUNKER_VERSION
from scopes.probing import look_everywhere
from tenants.isolation import organization_context
from tenants.models import PhoneAgent
from tests.openai_server import instant_vectors
from tests.processes import eventually
from tests.voice import Runtime, runtime
from tests.world import Tenant, tenant

TOPIC = "pelican lounge"
ASKED = ("When does the pelican lounge open?", TOPIC)
SOON_S = 90.0
# What should be indexed of an organization, said in its own words: not the product's.
LIVE = """
SELECT id, generation FROM knowledge_item
 WHERE organization_id = %(organization)s AND deleted_at IS NULL AND review_status = 'approved'
   AND parse_status IN ('parsed', 'ingested') AND (kind <> 'golden' OR published_version IS NOT NULL)
UNION ALL
SELECT id, generation FROM knowledge_instruction
 WHERE organization_id = %(organization)s AND deleted_at IS NULL AND status = 'published'
"""
NOT_INDEXED = f"""
SELECT count(*) FROM ({LIVE}) l WHERE NOT EXISTS (
  SELECT FROM knowledge_document d JOIN knowledge_chunk c ON c.document_id = d.id
    JOIN knowledge_vector v ON v.chunk_id = c.id AND v.generation = l.generation
   WHERE d.organization_id = %(organization)s AND d.asset_id = l.id AND d.generation = l.generation
     AND v.organization_id = d.organization_id AND v.asset_id = l.id AND c.position = 0)
"""
DOUBLED = """
SELECT count(*) FROM (SELECT FROM knowledge_document
  WHERE organization_id = %(organization)s GROUP BY asset_id HAVING count(*) > 1) d
"""
SURPLUS = f"""
SELECT count(*) FROM knowledge_document WHERE organization_id = %(organization)s
   AND (asset_id, generation) NOT IN ({LIVE})
"""


def meaning(texts: Sequence[str], model: str) -> Sequence[Sequence[float]]:
    """Make one vector of all that is about the lounge, and any other of the rest."""
    return instant_vectors([TOPIC if TOPIC in text.casefold() else text for text in texts], model)


@dataclass
class Holder:
    """One organization: the word in all that it says, what nobody may hear, and all it was ever told."""

    tenant: Tenant
    agent: PhoneAgent
    word: str
    hidden: str
    voice: Runtime
    said: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    session: str = ""

    @property
    def organization_id(self) -> int:
        return self.tenant.organization.pk

    def plant(self) -> None:
        """Give it something to hear, and the same kept back in four ways."""
        say = f"The pelican lounge opens at seven. {self.word}"
        self.say("Opening hours", say, title=ASKED[0])
        self.tenant.instruction("Greeting", f"Greet callers of the pelican lounge. {self.word}")
        kept = f"The pelican lounge is for sale. {self.hidden}"
        self.tenant.item("Sale", kept, title=ASKED[0], review_status="pending")
        self.tenant.item("Internal sale", kept, title=ASKED[0])
        self.tenant.change_item(self._pk("Internal sale"), visibility="internal")
        self.tenant.item("Old sale", kept)
        self.tenant.change_item(self._pk("Old sale"), deleted_at=datetime.now(tz=UTC))
        self.tenant.instruction("Sale", kept, status="draft")

    def say(self, name: str, text: str, **content: Any) -> None:
        """Write an item; it counts as said once it was acknowledged."""
        self.tenant.item(name, text, **content)
        self.said[name] = text

    def ask(self, *queries: str, **body: Any) -> dict[str, Any]:
        """Ask as its agent's caller, and keep what came."""
        self.session = self.session or self.voice.session(self.agent)
        answer = self.voice.search(self.agent, self.session, *(queries or ASKED), **body)
        self.told.append(answer.content.decode() + repr(sorted(answer.headers.items())))
        heard: dict[str, Any] = answer.json()
        self.statuses[heard.get("status") or str(answer.status_code)] += 1
        return heard

    def count(self, statement: str) -> int:
        with organization_context(self.organization_id), connection.cursor() as cursor:
            cursor.execute(statement, {"organization": self.organization_id})
            row: tuple[int] = cursor.fetchone()
        return row[0]

    def lost(self) -> int:
        """How much of what was acknowledged is not there as it was said, or not in the index."""
        with self.tenant.context(), connection.cursor() as cursor:
            cursor.execute("SELECT external_id, body FROM knowledge_item WHERE deleted_at IS NULL")
            there: dict[str, str] = dict(cursor.fetchall())
        gone = sum(there.get(name) != text for name, text in self.said.items())
        return gone + self.count(NOT_INDEXED)

    def _pk(self, name: str) -> Any:
        with self.tenant.context(), connection.cursor() as cursor:
            cursor.execute("SELECT id FROM knowledge_item WHERE external_id = %s", [name])
            return cursor.fetchone()[0]


def holder(
    number: int, tenant: Tenant, word: str | None = None, said: dict[str, str] | None = None
) -> Holder:
    return Holder(
        tenant,
        tenant.agent("lobby"),
        word or f"ORG{number}-SECRET-{uuid.uuid4()}",
        f"ORG{number}-HIDDEN-{uuid.uuid4()}",
        runtime(tenant.organization),
        {} if said is None else said,
    )


class Tenants:
    """Several organizations on one installation, and what must hold of all of them after a fault."""

    def __init__(self, embedder: Embedder, first: Holder) -> None:
        self.embedder, self.first = embedder, first
        self.others = [holder(n, tenant(f"neighbour-{n}")) for n in (1, 2)]
        for one in self.others:
            one.plant()
        index_now(embedder, at=datetime.now(tz=UTC))

    def __iter__(self) -> Iterator[Holder]:
        return iter((self.first, *self.others))

    def plant_first(self) -> None:
        """Give the first what the others have."""
        self.first.plant()
        index_now(self.embedder, at=datetime.now(tz=UTC))

    def say(self, count: int, *, text: str = "The heron stands on leg") -> None:
        """Write so many items in each organization; the same again is a change of them."""
        for one in self:
            for number in range(count):
                one.say(f"Heron {number}", f"{text} {number}. {one.word}")

    def ask(self) -> None:
        """Let everybody ask once."""
        for one in self:
            one.ask()

    def come_to_rest(self, mode: Any) -> float:
        """Wait until nothing waits for the index anywhere; return the seconds."""
        began = time.monotonic()

        def rests() -> bool:
            mode.sweep()
            return all(waiting(one.organization_id) == 0 for one in self)

        eventually(rests, within_s=SOON_S)
        return round(time.monotonic() - began, 1)

    def leaks(self, *written: str) -> list[str]:
        """Return who was told what he must not be, and what was written that must not be."""
        found = []
        for one in self:
            told = "".join(one.told)
            found += [
                f"{other.tenant.organization.slug} to {one.tenant.organization.slug}"
                for other in self
                if other.hidden in told or (other is not one and other.word in told)
            ]
        metrics = Client().get("/metrics").content.decode()
        return found + ["written" for text in (metrics, *written) if self._is_in(text)]

    def account(self, *written: str) -> dict[str, Any]:
        """Assert that nothing is lost, doubled or leaked in any organization; return the figures.

        Canaries are looked for by both legs, too, and content and index are compared.
        """
        found = self.count(*written)
        self._both_sides_agree()
        return found

    def count(self, *written: str) -> dict[str, Any]:
        """Do so by what everybody is told when he asks once more, and by counting rows."""
        for one in self.others:
            heard = one.ask()
            assert any(one.word in result["content"] for result in heard["results"])
        self.first.ask()
        found = {
            "written": sum(len(one.said) for one in self),
            "lost": sum(one.lost() for one in self),
            "doubled": sum(one.count(DOUBLED) for one in self),
            "surplus": sum(one.count(SURPLUS) for one in self),
            "answers": self.answers(),
            "leaks": len(self.leaks(*written)),
        }
        assert (found["lost"], found["doubled"], found["surplus"]) == (0, 0, 0), found
        assert self.leaks(*written) == []
        return found

    def answers(self) -> str:
        statuses = sum((one.statuses for one in self), Counter[str]())
        return " ".join(f"{name} {count}" for name, count in sorted(statuses.items()))

    def _both_sides_agree(self) -> None:
        now = datetime.now(tz=UTC)
        space = ensure_space(self.embedder.space, chunker_version=CHUNKER_VERSION)
        for one in self:
            assert reconcile(one.organization_id, space=space, at=now).total == 0
        for look in look_everywhere(now).values():
            assert look.faults == []
            assert look.dense_searches == look.lexical_searches

    def _is_in(self, text: str) -> bool:
        return any(word in text for one in self for word in (one.word, one.hidden))
