"""One row of acme in every table that carries an organization; whoever adds a table adds a row here."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from golden.models import AnswerDraft as GoldenDraft
from golden.models import AnswerVersion, GoldenAnswer, PublishRequest
from knowledge.models import (
    BulkEntry,
    Chunk,
    CorpusTerm,
    Document,
    EmbeddedText,
    EntityAlias,
    ImportedFile,
    ImportUpload,
    InstructionDraft,
    InstructionVersion,
    SourcePage,
    SpaceGap,
    Vector,
)
from scopes.models import CanaryLook
from tenants.models import AnsweredRequest, ApiToken, Invitation
from tests.staff import Office, office
from tests.world import AT


def furnished() -> Office:
    """Return the office with a row in every table, also in those that no page of the admin shows."""
    made = office()
    with made.acme.context():
        for make in (_content, _index, _people, _answers):
            for row in make(made.rows, {"organization": made.acme.organization}):
                row.save()
                made.rows[row._meta.model_name or ""] = row
    return made


def _content(rows: dict[str, Any], own: dict[str, Any]) -> list[Model]:
    text = {"instruction": rows["instruction"], "title": "Greeting", "body": "Say hello."}
    page = {"schedule": rows["sourceschedule"], "url": "https://example.com/", "seen_at": AT}
    return [
        BulkEntry(**own, job=rows["bulkjob"], item=rows["item"], version=1),
        EntityAlias(**own, entity_type="card", entity_key="voyager", alias="Travel card"),
        ImportedFile(**own, source=rows["source"], name="a.md", digest="0", read_at=AT),
        ImportUpload(**own, run=rows["importrun"], name="a.md", size=1, content=b"a"),
        InstructionDraft(**own, **text, base_digest="0", changed_at=AT),
        InstructionVersion(**own, **text, number=1, created_at=AT),
        SourcePage(**own, **page),
    ]


def _index(rows: dict[str, Any], own: dict[str, Any]) -> list[Model]:
    space, asset = {"space": rows["embeddingspace"]}, {"asset_id": rows["item"].pk}
    document = Document(
        **own, **asset, key="1:knowledge:0", category="knowledge", generation=1, applied_at=AT
    )
    passage = {"position": 0, "start": 0, "end": 1, "text_hash": "0"}
    chunk = Chunk(**own, **asset, **passage, document=document)
    vector = {"generation": 1, "position": 0, "embedding": [1.0, 0.0]}
    return [
        document,
        chunk,
        Vector(**own, **asset, **space, **vector, chunk=chunk),
        EmbeddedText(**own, **space, text_hash="0", embedding=[1.0, 0.0]),
        SpaceGap(**own, **asset, **space, category="knowledge", next_attempt_at=AT),
        CorpusTerm(**own, profile=rows["calibrationprofile"], token=1, passages=1),
        CanaryLook(**own, at=AT, searches=1),
    ]


def _people(rows: dict[str, Any], own: dict[str, Any]) -> list[Model]:
    user = {"user": rows["user"]}
    return [
        AnsweredRequest(**own, **user, key="again", request_sha256="0", at=AT),
        ApiToken(**own, **user, kid="kid", secret_sha256=b"0"),
        Invitation(
            **own, email="new@example.com", role="viewer", secret_sha256=b"0",
            sent_at=AT, expires_at=AT,
        ),
    ]  # fmt: skip


def _answers(rows: dict[str, Any], own: dict[str, Any]) -> list[Model]:
    answer: GoldenAnswer = rows["golden"]
    version = AnswerVersion.objects.filter(golden=answer).earliest("number")
    content = {"question": "No advice", "answer": "None.", "changed_at": AT}
    return [
        GoldenDraft(**own, **content, golden=answer),
        PublishRequest(
            **own, golden=answer, version=version, content_hash="0", requested_at=AT
        ),
    ]  # fmt: skip
