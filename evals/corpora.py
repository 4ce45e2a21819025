"""A set's corpus in a database of its own, written and indexed by the product's own code."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from django.core.management import call_command

from config.private import locked
from config.scratch import (
    digest_of,
    drop,
    note,
    noted,
    point_at,
    scratch_database,
    scratch_databases,
    superuser,
)
from evals.sets import Document, View
from knowledge.calibration.fitting import fit
from knowledge.embedding.protocol import Embedder
from knowledge.embedding.spaces import ensure_space
from knowledge.folders import folder_key
from knowledge.indexing.converge import Workshop, converge_batch
from knowledge.indexing.leases import waiting_states
from knowledge.indexing.writing import ItemContent, write_item
from knowledge.models import Item, ItemKind, Source
from knowledge.passages import CHUNKER_VERSION
from scopes.selecting import create_scopes
from tenants.isolation import organization_context
from tenants.models import Organization, PhoneAgent

AT: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
PREFIX: Final = "eval_"
VERSION: Final = UUID("00000000-0000-4000-8000-000000000001")
# What decides passages, tokens and rows; another digest writes the corpora anew.
_WRITING: Final = (
    "evals/corpora.py", "knowledge/passages.py", "knowledge/folders.py",
    "knowledge/text/*.py", "knowledge/indexing/texts.py", "knowledge/indexing/assets.py",
    "knowledge/indexing/lexical.py",
)  # fmt: skip
_SCHEMA: Final = ("*/migrations/*.py",)
_FITTING: Final = (
    "knowledge/calibration/*.py", "knowledge/calibration/bank/*", "knowledge/retrieval/policy.py",
    "knowledge/retrieval/centring.py", "knowledge/retrieval/grounding.py", "knowledge/text/speech.py",
)  # fmt: skip
_BATCH: Final = 100
_ATTEMPTS: Final = 20
Progress = Callable[[int, int], None]


def open_corpus(view: View, embedder: Embedder, progress: Progress) -> dict[UUID, str]:
    """Point this process at the view's corpus, made where it is missing; return documents by item.

    Cost: seconds to minutes the first time, then one statement.
    """
    name = f"{PREFIX}{digest_of(*_WRITING)}_{view.corpus_digest}"
    scratch_database(name)
    point_at(name)
    with locked("eval-corpora"):
        made = json.loads(noted(name) or "{}")
        if made and made.get("schema") != digest_of(*_SCHEMA):
            call_command("migrate", verbosity=0)
            note(name, json.dumps(made | {"schema": digest_of(*_SCHEMA)}))
        if embedder.space.fingerprint != made.get("space"):
            _fill(name, view.documents, embedder, progress)
            made = {"space": embedder.space.fingerprint, "schema": digest_of(*_SCHEMA)}
        if made.get("fitted") != digest_of(*_FITTING):
            _calibrate(embedder)
            known = {"fitted": digest_of(*_FITTING), "schema": digest_of(*_SCHEMA)}
            note(name, json.dumps(made | known))
    with organization_context(organization().pk):
        return dict(Item.objects.values_list("pk", "external_id"))


def forget_old() -> None:
    """Drop the corpora that other code has written."""
    current = PREFIX + digest_of(*_WRITING)
    drop(*(name for name in scratch_databases(PREFIX) if not name.startswith(current)))


def organization() -> Organization:
    """Return the one organization of this corpus."""
    return Organization.objects.get(slug="evaluation")


def agent(asked: Organization) -> PhoneAgent:
    """Return the agent that is asked; its scope is everything. Expects the organization's context."""
    return PhoneAgent.objects.get(organization=asked, slug="asked")


def _fill(name: str, documents: Sequence[Document], embedder: Embedder, progress: Progress) -> None:
    source = _prepared()
    ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)
    workshop = Workshop(embedder, _clock, lambda: True)
    done = 0
    for batch in _batches(documents):
        _index(source.organization_id, _written(batch, source), workshop)
        done += len(batch)
        progress(done, len(documents))
    with superuser(name) as connection:
        connection.execute("VACUUM ANALYZE")


def _index(organization_id: int, items: Sequence[UUID], workshop: Workshop) -> None:
    """Index all of them: on a slow machine a claim may run out, and is made again."""
    for _ in range(_ATTEMPTS):
        outcome = converge_batch(organization_id, [("knowledge", pk) for pk in items], workshop)
        if outcome.failed:
            raise RuntimeError(f"Not indexed: {next(iter(outcome.failed.values()))}")
        with organization_context(organization_id):
            if not waiting_states(organization_id).filter(asset_id__in=items).exists():
                return
        time.sleep(1)
    raise RuntimeError("Not indexed: the claims of a batch ran out again and again.")


def _prepared() -> Source:
    found, _ = Organization.objects.get_or_create(
        slug="evaluation", defaults={"name": "Evaluation"}
    )
    with organization_context(found.pk):
        asked, is_new = PhoneAgent.objects.get_or_create(
            organization=found,
            slug="asked",
            defaults={"name": "Asked", "base_instructions": "Answer.", "fallback": "Later."},
        )
        if is_new:
            create_scopes(asked)
        source, _ = Source.objects.get_or_create(
            organization=found, slug="corpus", defaults={"name": "Corpus"}
        )
    return source


def _batches(documents: Sequence[Document]) -> Iterator[Sequence[Document]]:
    for start in range(0, len(documents), _BATCH):
        yield documents[start : start + _BATCH]


def _written(documents: Sequence[Document], source: Source) -> list[UUID]:
    with organization_context(source.organization_id):
        return [write_item(_content(document, source), at=AT).id for document in documents]


def _content(document: Document, source: Source) -> ItemContent:
    return ItemContent(
        organization_id=source.organization_id,
        source_id=source.pk,
        external_id=document.id,
        title=document.title[:400],
        body=document.text,
        folder_key=folder_key(source.slug, document.folder),
        language=document.language,
        kind=ItemKind.GOLDEN if document.golden else ItemKind.KNOWLEDGE,
        published_version=VERSION if document.golden else None,
        phrasings=document.phrasings,
    )


def _clock() -> datetime:
    # Leases need a clock that goes on; what is written does not depend on the day.
    return AT + timedelta(seconds=time.monotonic())


def _calibrate(embedder: Embedder) -> None:
    space = ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)
    fit(organization().pk, space, embedder, at=_clock())
