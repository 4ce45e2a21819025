"""What the test of the lifecycle is worth: with one safeguard gone, the same machine fails."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure
from hypothesis.stateful import initialize, run_state_machine_as_test

from golden import publishing
from knowledge.indexing import applying
from knowledge.models import IndexState
from tests.property.test_golden_lifecycle import WORDS, Lifecycle

pytestmark = pytest.mark.django_db
# The same examples every time, and the first that fails is enough.
FEW = settings(
    max_examples=40,
    stateful_step_count=10,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def without(machine, *names):
    return type(machine.__name__, (machine,), dict.fromkeys(names))


class UnderWay(Lifecycle):
    """Every answer is live from the first step, with a change that waits for approval."""

    @initialize(texts=st.just(WORDS), is_under_way=st.just(True))
    def begin(self, texts, is_under_way):
        super().begin(texts, is_under_way)


# What cannot matter to a safeguard only makes it rarer that it is needed.
SERVING = without(
    UnderWay, "discard", "lose", "provider_fails", "roll_back", "what_is_refused_changes_nothing",
    "nothing_of_the_history_is_missing",
)  # fmt: skip
RACE = without(
    SERVING, "archive", "restore", "approve", "deliver", "everything_comes_to_rest",
    "only_what_is_published_now_is_served",
)  # fmt: skip


def run(machine, few=FEW):
    run_state_machine_as_test(machine, settings=few)


def whatever_happened_meanwhile(claims):
    rows = IndexState.objects.filter(asset_id__in=[one.asset_id for one in claims])
    return {row.asset_id: row for row in rows}


def test_an_answer_that_stays_served_when_it_is_archived_is_noticed(monkeypatch):
    monkeypatch.setattr(publishing, "unserve", lambda _golden, **_at: None)
    # Of two equal answers the lower id is heard, and ids are new when the failure is run again.
    with pytest.raises((AssertionError, FlakyFailure)):
        run(SERVING)


def test_an_index_written_without_asking_whether_it_is_still_wanted_is_noticed(monkeypatch):
    monkeypatch.setattr(applying, "_still_ours", whatever_happened_meanwhile)
    # A row that was changed has other words by then, which is a safeguard of its own.
    monkeypatch.setattr(applying, "cut_otherwise", lambda *_asked: [])
    with pytest.raises(AssertionError, match="generation"):
        run(RACE)


def test_with_every_safeguard_in_place_the_race_is_won():
    run(RACE, settings(FEW, max_examples=6))
