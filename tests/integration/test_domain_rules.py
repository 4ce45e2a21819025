"""Published rules stand in the prompt of the calls they apply to, and are never searched."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.answers import CONTENT, Staff
from tests.voice import runtime

pytestmark = pytest.mark.django_db
RULE = replace(
    CONTENT, question="No legal advice", answer="Never give legal advice.", paraphrases=()
)
NOW = datetime.now(tz=UTC)


@pytest.fixture
def staff():
    return Staff()


def prompt(staff, **body):
    answer = runtime(staff.organization).open(staff.agent, **body)
    return answer.json()["prompt"]


def test_a_published_rule_stands_after_the_base_instructions(staff):
    staff.published(RULE, kind="rule")
    assert prompt(staff) == f"{staff.agent.base_instructions}\n\n{RULE.answer}"


def test_a_draft_of_a_rule_is_in_no_prompt(staff):
    staff.write(RULE, kind="rule")
    assert RULE.answer not in prompt(staff)


def test_an_archived_rule_is_in_no_prompt(staff):
    staff.archive(staff.published(RULE, kind="rule"))
    assert RULE.answer not in prompt(staff)


def test_an_answer_is_in_no_prompt(staff):
    staff.published(CONTENT)
    assert CONTENT.answer not in prompt(staff)


@pytest.mark.parametrize(
    "gates",
    [
        {"channels": ("chat",)},
        {"agent_restricted": True},
        {"segment_restricted": True},
        {"jurisdictions": ("DE",)},
        {"valid_until": NOW - timedelta(hours=1)},
        {"valid_from": NOW + timedelta(days=1)},
        {"visibility": "internal"},
    ],
)
def test_a_rule_for_other_calls_is_in_no_prompt(staff, gates):
    staff.published(replace(RULE, **gates), kind="rule")
    assert RULE.answer not in prompt(staff)


def test_a_rule_for_just_this_call_is_in_its_prompt(staff):
    gates: Any = {"channels": ("phone",), "agents": (staff.agent.pk,), "jurisdictions": ("AE",)}
    staff.published(replace(RULE, **gates), kind="rule")
    assert RULE.answer in prompt(staff, call={"country": "AE"})


def test_a_rule_applies_whatever_an_agent_may_search(staff):
    staff.published(RULE, kind="rule")
    staff.tenant.item("Elsewhere", folder="elsewhere")
    staff.tenant.pick(staff.agent, "knowledge", containers=["help/elsewhere"])
    assert RULE.answer in prompt(staff)


def test_another_organization_s_rule_is_in_no_prompt(staff):
    Staff("globex").published(RULE, kind="rule")
    assert RULE.answer not in prompt(staff)
