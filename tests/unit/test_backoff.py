from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import DataError, OperationalError

from knowledge.calibration.refitting import LATEST, is_due
from knowledge.errors import EmbeddingRejected, EmbeddingTimeout, EmbeddingUnavailable
from knowledge.indexing.backoff import failure_of, is_final, next_attempt_at, pause_s


@pytest.mark.parametrize(
    ("error", "is_transient"),
    [
        (EmbeddingUnavailable(), True),
        (EmbeddingTimeout(), True),
        (OperationalError(), True),
        (EmbeddingRejected(), False),
        (DataError(), False),
        (RecursionError(), False),
    ],
)
def test_what_may_pass_by_itself_is_transient(error, is_transient):
    assert failure_of(error).is_transient is is_transient


def test_the_words_of_an_unknown_error_are_not_repeated():
    assert "secret" not in failure_of(ValueError("secret body")).reason


def test_pauses_double_up_to_ten_minutes():
    assert [pause_s(attempts) for attempts in (1, 2, 3, 10, 1_000)] == [1, 2, 4, 512, 600]


def test_a_longer_wait_that_was_asked_for_is_kept(at):
    failure = failure_of(EmbeddingUnavailable(retry_after=60))
    assert next_attempt_at(1, failure, at=at) == at + timedelta(seconds=60)


def test_only_what_will_not_pass_is_final_after_five_attempts():
    rejected, unavailable = failure_of(EmbeddingRejected()), failure_of(EmbeddingUnavailable())
    assert [is_final(attempts, rejected) for attempts in (4, 5)] == [False, True]
    assert not is_final(1_000, unavailable)


@pytest.mark.parametrize(
    ("changed", "fitted", "is_busy", "expected"),
    [
        (None, None, False, False),
        (10, None, False, True),
        (2, None, False, False),
        (10, None, True, False),
        (100, 50, False, False),
        (40, 90, False, True),
        (10, 90, False, False),
        (1, LATEST.total_seconds(), True, True),
    ],
)
def test_a_corpus_is_measured_when_it_has_changed_and_rests(at, changed, fitted, is_busy, expected):
    def ago(seconds):
        return None if seconds is None else at - timedelta(seconds=seconds)

    due = is_due(changed_at=ago(changed), fitted_at=ago(fitted), is_busy=is_busy, at=at)
    assert due is expected
