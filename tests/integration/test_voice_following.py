"""What a search takes over from earlier searches of its session, and from no others."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest

from knowledge.models import SearchRecord
from tests.world import AT, world
from voiceapi.following import pinned_assets
from voiceapi.models import VoiceSession

pytestmark = pytest.mark.django_db


@pytest.fixture
def here():
    return world()


@pytest.fixture
def session(here):
    return opened(here)


def opened(here):
    with here.acme.context():
        return VoiceSession.objects.create(
            organization=here.acme.organization, agent=here.receptionist, kid="k",
            channel="phone", expires_at=AT,
        )  # fmt: skip


def searched(here, session, *results, minutes=0, door="voice"):
    """Write down a search that returned these; the asset of a result is its name in capitals."""
    with here.acme.context():
        record = SearchRecord.objects.create(
            organization=here.acme.organization,
            session_id=session.pk,
            door=door,
            at=AT + timedelta(minutes=minutes),
            status="ok",
            results=[{"type": "knowledge", "id": r, "asset": r.upper()} for r in results],
        )
    return str(record.pk)


def pins(here, session, follows, *pinned):
    with here.acme.context():
        return pinned_assets(session, follows, pinned)


def test_results_of_the_followed_search_are_pinned_by_their_truth_rows(here, session):
    search = searched(here, session, "a", "b", "c")
    assert pins(here, session, search, "c", "a") == ("C", "A")


def test_results_of_another_search_are_ignored(here, session):
    first = searched(here, session, "a")
    searched(here, session, "b", minutes=1)
    assert pins(here, session, first, "a", "b", "nonsense") == ("A",)


def test_without_a_followed_search_any_of_the_last_five_will_do(here, session):
    searched(here, session, "a")
    searched(here, session, "b", minutes=1)
    assert pins(here, session, None, "a", "b") == ("A", "B")


def test_the_sixth_search_back_is_forgotten(here, session):
    oldest = searched(here, session, "a")
    for minutes in range(1, 6):
        searched(here, session, "b", minutes=minutes)
    assert pins(here, session, oldest, "a") == ()
    assert pins(here, session, None, "a") == ()


def test_what_staff_asked_again_is_no_search_of_the_session(here, session):
    search = searched(here, session, "a")
    for minutes in range(1, 6):
        searched(here, session, "b", minutes=minutes, door="staff")
    assert pins(here, session, search, "a") == ("A",)
    assert pins(here, session, None, "b") == ()


def test_searches_of_another_session_are_ignored(here, session):
    search = searched(here, opened(here), "a")
    assert pins(here, session, search, "a") == ()


@pytest.mark.parametrize("follows", ["nonsense", str(uuid.UUID(int=7))])
def test_a_search_that_never_was_pins_nothing(here, session, follows):
    searched(here, session, "a")
    assert pins(here, session, follows, "a") == ()
