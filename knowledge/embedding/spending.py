"""Texts, tokens, calls and cost by organization, day and model, whatever was embedded for whom."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from django.conf import settings
from django.db import Error, connection

from knowledge.embedding.metering import Meter, metered
from knowledge.embedding.protocol import SpaceSpec
from tenants.isolation import organization_context

LOCAL: Final = "local"
# A question does not wait for its bill: behind a lock that is not given it goes uncounted.
LONGEST_WAIT_MS: Final = 200
_ADD: Final = """
INSERT INTO knowledge_usageentry AS u
  (id, organization_id, day, provider, model, texts, tokens, calls, failed_calls, question_calls, question_tokens,
   cost_micros)
VALUES (gen_random_uuid(), %(organization)s, (now() AT TIME ZONE 'utc')::date, %(provider)s, %(model)s,
        %(texts)s, %(tokens)s, %(calls)s, %(failed)s, %(question_calls)s, %(question_tokens)s, %(cost)s)
ON CONFLICT (organization_id, day, provider, model) DO UPDATE SET
  texts = u.texts + excluded.texts, tokens = u.tokens + excluded.tokens,
  calls = u.calls + excluded.calls, failed_calls = u.failed_calls + excluded.failed_calls,
  question_calls = u.question_calls + excluded.question_calls,
  question_tokens = u.question_tokens + excluded.question_tokens,
  cost_micros = u.cost_micros + excluded.cost_micros
"""
_HURRY: Final = {"lock_timeout": f"{LONGEST_WAIT_MS}ms", "synchronous_commit": "off"}
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Spent:
    """What some calls cost; failed ones cost what the service says, and questions are told apart."""

    texts: int
    tokens: int
    calls: int = 1
    failed: int = 0
    is_question: bool = False


def note_spending(organization_id: int, space: SpaceSpec, spent: Spent) -> None:
    """Add to what the organization has spent today.

    Cost: one statement, in a transaction of its own or in the one that is open.
    """
    with organization_context(organization_id):
        _add(organization_id, space, spent)


def _add(organization_id: int, space: SpaceSpec, spent: Spent) -> None:
    values: dict[str, Any] = {
        "organization": organization_id, "provider": space.provider, "model": space.model,
        "texts": spent.texts, "tokens": spent.tokens, "calls": spent.calls, "failed": spent.failed,
        "question_calls": spent.calls if spent.is_question else 0,
        "question_tokens": spent.tokens if spent.is_question else 0,
        "cost": cost_micros(spent.tokens) if space.provider != LOCAL else 0,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_ADD, values)


@contextmanager
def paid_by(organization_id: int, space: SpaceSpec, *, is_question: bool = False) -> Iterator[None]:
    """Have an organization pay for what a service is asked inside the block, also when it fails.

    What was embedded on this machine costs nothing and is not counted here; a question waits there for
    other questions alone.
    Cost: one statement after the block, if a service was asked; a database in trouble loses the count.
    """
    with metered(is_question=is_question) as meter:
        try:
            yield
        finally:
            if meter.calls:
                _note_in_a_hurry(organization_id, space, _spent(meter))


def _spent(meter: Meter) -> Spent:
    return Spent(meter.texts, meter.tokens, meter.calls, meter.failed, meter.is_question)


def _note_in_a_hurry(organization_id: int, space: SpaceSpec, spent: Spent) -> None:
    try:
        with organization_context(organization_id, settings=_HURRY):
            _add(organization_id, space, spent)
    except Error as error:
        _logger.warning("usage not counted", extra={"error": type(error).__name__})


def cost_micros(tokens: int) -> int:
    """Return what tokens cost, in millionths of the currency of EARMARK_EMBEDDING_PRICE."""
    return int(Decimal(tokens) * Decimal(settings.EMBEDDING_PRICE))
