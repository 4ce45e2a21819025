from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from knowledge.embedding.selection import embedder_from_settings
from knowledge.embedding.spaces import ensure_space
from knowledge.indexing.reconciling import reconcile
from knowledge.indexing.status import waiting
from knowledge.indexing.writing import ItemContent, write_item
from knowledge.models import Document, EmbeddedText, IndexState, Item
from knowledge.passages import CHUNKER_VERSION
from tenants.isolation import organization_context
from tests.faults.modes import Drains, Workers, used_broker
from tests.faults.tenants import Tenants, holder, meaning
from tests.openai_server import DIMENSIONS, OpenAIServer
from tests.processes import eventually
from tests.world import Tenant, tenant


class Bench:
    """An organization, an embedding server, and what must hold after every fault."""

    def __init__(self, acme: Tenant, server: OpenAIServer) -> None:
        self.acme, self.server = acme, server
        self.organization_id = acme.organization.pk
        self.word = f"ORG0-SECRET-{uuid.uuid4()}"
        self.said: dict[str, str] = {}

    def save(self, count: int, *, said: str = "It says", first: int = 0) -> None:
        """Write items in transactions of fifty."""
        source = self.acme.source()
        for start in range(first, first + count, 50):
            texts = {
                number: f"{said} {number}. {self.word}"
                for number in range(start, min(start + 50, first + count))
            }
            with self.acme.context():
                for number, text in texts.items():
                    content = ItemContent(
                        self.organization_id, source.pk, f"item {number}", f"Item {number}",
                        text, "help",
                    )  # fmt: skip
                    write_item(content, at=datetime.now(tz=UTC))
            self.said |= {f"item {number}": text for number, text in texts.items()}

    def indexed(self) -> int:
        with organization_context(self.organization_id):
            return Document.objects.count()

    def under_way(self) -> bool:
        with organization_context(self.organization_id):
            return IndexState.objects.exclude(lease_token=None).exists()

    def ten_seconds_pass(self) -> None:
        """Let the leases of the dead run out now."""
        with organization_context(self.organization_id):
            IndexState.objects.exclude(lease_until=None).update(
                lease_until=datetime.now(tz=UTC) - timedelta(seconds=1)
            )

    def nothing_waits(self) -> bool:
        return waiting(self.organization_id) == 0

    def converged(self, within_s: float = 60.0) -> None:
        eventually(self.nothing_waits, within_s=within_s)
        self.index_equals_truth()

    def index_equals_truth(self) -> None:
        with organization_context(self.organization_id):
            should = set(Item.objects.filter(deleted_at=None).values_list("pk", "generation"))
            does = list(Document.objects.values_list("asset_id", "generation"))
            assert sorted(does) == sorted(should)
            assert not IndexState.objects.filter(
                applied_generation__lt=F("desired_generation")
            ).exists()
        space = ensure_space(self.embedder().space, chunker_version=CHUNKER_VERSION)
        now = datetime.now(tz=UTC)
        assert reconcile(self.organization_id, space=space, at=now).total == 0

    def nothing_is_left_over(self) -> bool:
        return not EmbeddedText.objects.filter(organization_id=self.organization_id).exists()

    def embedder(self):
        return embedder_from_settings(
            {"model": "tests", "dimensions": DIMENSIONS, "base_url": self.server.base_url}
        )

    def paid_twice(self) -> int:
        passages = [count for text, count in self.server.inputs.items() if "\nIt says" in text]
        return sum(count > 1 for count in passages)


@pytest.fixture
def bench(transactional_db) -> Iterator[Bench]:
    with OpenAIServer() as server:
        yield Bench(tenant("acme"), server)


@pytest.fixture
def tenants(bench, monkeypatch) -> Tenants:
    """The bench's organization and two others, each with a word of its own in every text."""
    bench.server.embed = meaning
    embedder = bench.embedder()
    monkeypatch.setattr("scopes.asking.current_embedder", lambda: embedder)
    return Tenants(embedder, holder(0, bench.acme, bench.word, bench.said))


@pytest.fixture(params=["drain", pytest.param("Celery", marks=pytest.mark.slow)])
def mode(request, bench, settings) -> Iterator[Drains]:
    """Either way of indexing; `make test` tries the first, `make test-all` both."""
    if request.param == "drain":
        with closing(Drains(bench.server)) as drains:
            yield drains
        return
    with used_broker(settings) as broker, closing(Workers(bench.server, broker)) as workers:
        yield workers


@pytest.fixture
def figures(capsys) -> Callable[..., None]:
    """Print one line of a fault, the mode and what it cost, also when the test succeeds."""

    def tell(fault: str, mode: str = "either mode", **values: object) -> None:
        line = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items())
        with capsys.disabled():
            sys.stdout.write(f"\n{fault} ({mode}): {line}\n")

    return tell
