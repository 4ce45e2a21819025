from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection

from knowledge.calibration.refitting import refit_all_due
from knowledge.embedding.protocol import SpaceSpec
from knowledge.embedding.selection import current_embedder, forget_active_space
from knowledge.embedding.spaces import ensure_space
from knowledge.errors import EmbeddingUnavailable
from knowledge.indexing.reconciling import reconcile
from knowledge.indexing.writing import withdraw
from knowledge.models import (
    CalibrationProfile,
    EmbeddingSpace,
    Item,
    SearchRecord,
    SpaceGap,
    Vector,
)
from knowledge.passages import CHUNKER_VERSION
from knowledge.spaces.creating import Where, create, start_filling
from knowledge.spaces.dropping import SEARCHES_END, drop_batches, start_dropping
from knowledge.spaces.errors import (
    NothingToGoBackTo,
    SecondSpaceExists,
    SpaceExists,
    SpaceIncomplete,
    SpaceInUse,
    SpaceJustLeft,
    SpaceNotReady,
    SpaceUncalibrated,
    TooManyDimensions,
)
from knowledge.spaces.progress import progress
from knowledge.spaces.switching import roll_back, switch
from search.as_agent import Call, search_as
from tenants.models import AuditEntry, Organization
from tests.openai_server import OpenAIServer
from tests.spaces import (
    LARGE,
    SMALL,
    calibrate,
    fill,
    index_everything,
    lengths,
    now,
    searched,
    second_space,
    spec,
    wanted,
    word_vectors,
)
from tests.world import BY, tenant

pytestmark = pytest.mark.django_db
CLIENTS = 8


class Shop:
    """An organization whose content is indexed with the small model, and the server of both models."""

    def __init__(self, server: OpenAIServer) -> None:
        self.server = server
        self.acme = tenant("acme")
        self.agent = self.acme.agent()
        self.items = [
            self.acme.item(f"Ticket {word}", f"A {word} ticket costs {number} dirhams.")
            for number, word in enumerate(("pelican", "flamingo", "ostrich", "heron", "ibis"))
        ]
        self.first = ensure_space(current_embedder().space, chunker_version=CHUNKER_VERSION)
        forget_active_space()
        index_everything()

    def ask(self, word: str = "flamingo"):
        call = Call(None, "phone", None, now())
        return search_as(self.agent, (f"what does a {word} ticket cost",), call, limit=3)

    def filled(self) -> EmbeddingSpace:
        """Make the second space, filled."""
        space = second_space()
        fill()
        return space

    def ready(self) -> EmbeddingSpace:
        """Make the second space, filled and measured."""
        space = self.filled()
        calibrate(space)
        return space

    def missing(self, space: EmbeddingSpace) -> int:
        found: int = sum(one.missing for one in progress(space, Organization.objects.all()))
        return found


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(word_vectors) as server:
        yield server


@pytest.fixture
def shop(server, settings):
    settings.EARMARK_EMBEDDING = wanted(server.base_url)
    return Shop(server)


@contextmanager
def clients(shop):
    """Eight callers that ask without a pause, and what they heard."""
    told, stop = [], threading.Event()

    def call(number):
        try:
            while not stop.is_set():
                told.append(shop.ask(("pelican", "flamingo", "ostrich")[number % 3]).answer)
        finally:
            connection.close()

    threads = [threading.Thread(target=call, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield told
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def heard_in(told, space, more=CLIENTS):
    """Wait until so many answers came out of a space."""
    seen = len(told)
    while sum(answer.space_key == space.key for answer in told[seen:]) < more:
        threading.Event().wait(0.05)


@pytest.mark.django_db(transaction=True)
def test_the_model_changes_from_384_to_512_dimensions_and_back_while_eight_clients_search(shop):
    first = shop.first
    calibrate(first)
    with clients(shop) as told:
        heard_in(told, first)
        second = second_space()
        assert shop.missing(second) == 5
        shop.acme.item("Ticket crane", "A crane ticket costs nine dirhams.")
        index_everything()
        fill()
        assert shop.missing(second) == 0
        calibrate(second)
        switch(second, by=BY, at=now())
        heard_in(told, second)
        shop.acme.item("Ticket crane", "A crane ticket costs ten dirhams.")
        index_everything()
        fill()
        roll_back(by=BY, at=now())
        heard_in(told, first)
        start_dropping(second, by=BY, at=now() + SEARCHES_END)
        drop_batches(second)
        heard_in(told, first)
    assert {(answer.status, answer.degraded) for answer in told} == {("ok", ())}
    assert {answer.space_key for answer in told} == {first.key, second.key}
    assert all("ticket costs" in answer.results[0].content for answer in told)
    assert lengths() == {first.pk: {SMALL}}
    with shop.acme.context():
        recorded = set(SearchRecord.objects.values_list("space", flat=True))
    assert recorded == {first.key, second.key}


def test_two_spaces_hold_vectors_of_their_own_length_and_nothing_is_paid_twice(shop):
    second = shop.filled()
    assert lengths() == {shop.first.pk: {SMALL}, second.pk: {LARGE}}
    assert max(shop.server.inputs[text] for text in shop.server.inputs if "costs" in text) <= 2
    assert fill() == 0


def test_a_change_is_brought_into_both_spaces_and_an_unchanged_passage_is_not_paid_again(shop):
    second = shop.filled()
    paid = shop.server.inputs.total()
    shop.acme.item("Ticket heron", "A heron ticket costs seventy dirhams.", phrasings=["heron?"])
    index_everything()
    fill()
    assert shop.missing(second) == 0
    # The passage and the phrasing are new in two spaces; the title is as it was.
    assert shop.server.inputs.total() - paid == 4


def test_what_is_withdrawn_is_gone_from_both_spaces(shop):
    second = shop.filled()
    with shop.acme.context():
        withdraw(Item.objects.get(pk=shop.items[0]), at=now())
    index_everything()
    fill()
    assert not Vector.objects.filter(asset_id=shop.items[0]).exists()
    assert shop.missing(second) == 0


def test_a_space_that_lacks_something_is_not_switched_to(shop):
    second = second_space()
    with pytest.raises(SpaceIncomplete, match="lacks vectors of 5 rows"):
        switch(second, by=BY, at=now())


def test_a_space_that_nobody_measured_is_not_switched_to(shop):
    second = shop.filled()
    with pytest.raises(SpaceUncalibrated, match="acme"):
        switch(second, by=BY, at=now())


def test_what_is_filled_is_measured_in_the_background_and_not_before(shop):
    second = second_space()
    later = now() + timedelta(minutes=1)
    refit_all_due(current_embedder(), at=later)
    assert not profiles(shop, second)
    fill()
    refit_all_due(current_embedder(), at=later)
    assert profiles(shop, second)


def profiles(shop, space):
    with shop.acme.context():
        return CalibrationProfile.objects.filter(space=space, is_active=True).exists()


def test_a_question_embedded_before_the_switch_is_answered_in_its_own_space(shop, monkeypatch):
    calibrate(shop.first)
    second = shop.ready()
    embedder = current_embedder()
    switch(second, by=BY, at=now())
    monkeypatch.setattr("scopes.asking.current_embedder", lambda: embedder)
    answer = shop.ask().answer
    assert (answer.status, answer.degraded, answer.space_key) == ("ok", (), shop.first.key)


def test_a_question_whose_space_was_dropped_is_answered_from_its_words(shop, monkeypatch):
    calibrate(shop.first)
    second = shop.ready()
    embedder = current_embedder()
    switch(second, by=BY, at=now())
    start_dropping(shop.first, by=BY, at=now() + SEARCHES_END)
    monkeypatch.setattr("scopes.asking.current_embedder", lambda: embedder)
    answer = shop.ask().answer
    assert (answer.status, answer.degraded, answer.space_key) == ("ok", ("dense",), second.key)


def test_going_back_needs_somewhere_to_go(shop):
    with pytest.raises(NothingToGoBackTo):
        roll_back(by=BY, at=now())


def test_a_space_in_use_or_just_left_is_not_dropped(shop):
    second = shop.ready()
    with pytest.raises(SpaceInUse):
        start_dropping(shop.first, by=BY, at=now())
    switch(second, by=BY, at=now())
    with pytest.raises(SpaceJustLeft):
        start_dropping(shop.first, by=BY, at=now())


def test_nothing_of_a_dropped_space_is_left(shop):
    second = shop.ready()
    start_dropping(second, by=BY, at=now())
    assert drop_batches(second) == 10
    assert not EmbeddingSpace.objects.filter(pk=second.pk).exists()
    assert not profiles(shop, second)
    assert shop.ask().answer.degraded == ()


def test_the_queries_of_a_dropped_space_are_forgotten(shop):
    second = shop.ready()
    switch(second, by=BY, at=now())
    embedder = current_embedder()
    shop.ask()
    assert len(embedder.cache)
    roll_back(by=BY, at=now())
    current_embedder()
    assert len(embedder.cache)
    start_dropping(second, by=BY, at=now() + SEARCHES_END)
    current_embedder()
    assert not len(embedder.cache)


def test_there_are_two_spaces_at_most(shop):
    second = second_space()
    with pytest.raises(SpaceExists):
        create(spec(), Where(), by=BY, at=now())
    with pytest.raises(SecondSpaceExists):
        create(spec(256), Where(), by=BY, at=now())
    assert not EmbeddingSpace.objects.exclude(pk__in=[shop.first.pk, second.pk]).exists()


def test_vectors_that_do_not_fit_the_index_are_refused(shop):
    with pytest.raises(TooManyDimensions):
        create(spec(1025), Where(), by=BY, at=now())


def test_a_model_that_cannot_be_asked_makes_no_space(shop):
    shop.server.behave("unavailable")
    with pytest.raises(EmbeddingUnavailable):
        create(spec(), Where(), by=BY, at=now())
    assert EmbeddingSpace.objects.count() == 1


def test_a_space_that_was_only_made_is_neither_filled_nor_searched(shop):
    second = create(spec(), Where(), by=BY, at=now())
    assert fill() == 0
    with pytest.raises(SpaceNotReady):
        switch(second, by=BY, at=now())


def test_a_provider_that_fails_holds_up_its_own_space_only(shop):
    second = second_space()
    shop.server.behave("rate_limited", retry_after=30)
    assert fill() == 0
    assert fill() == 0
    assert shop.missing(second) == 5
    assert SpaceGap.objects.filter(attempts__gt=0).count() == 0


def test_a_text_that_is_refused_is_told_and_the_others_are_filled(shop):
    second = second_space()
    shop.server.behave("refused", times=2)
    fill()
    found = progress(second, Organization.objects.all())[0]
    assert found.missing == 1
    SpaceGap.objects.update(attempts=5)
    assert progress(second, Organization.objects.all())[0].failed == 1
    start_filling(second, by=BY, at=now())
    fill()
    assert shop.missing(second) == 0


def test_what_got_lost_is_noticed_by_reconciling_and_filled_again(shop):
    second = shop.filled()
    Vector.objects.filter(space=second, asset_id=shop.items[0]).delete()
    differences = reconcile(shop.acme.organization.pk, space=shop.first, at=now())
    assert (differences.gaps, differences.total) == (1, 1)
    fill()
    assert reconcile(shop.acme.organization.pk, space=shop.first, at=now()).total == 0


def test_after_a_switch_nothing_is_indexed_again(shop):
    switch(shop.ready(), by=BY, at=now())
    paid = shop.server.inputs.total()
    differences = reconcile(shop.acme.organization.pk, space=searched(), at=now())
    assert (differences.total, shop.server.inputs.total() - paid) == (0, 0)


def test_every_organization_reads_of_it_in_its_trail(shop):
    globex = tenant("globex")
    switch(shop.ready(), by=BY, at=now())
    for one in (shop.acme, globex):
        with one.context():
            verbs = set(AuditEntry.objects.values_list("verb", flat=True))
        assert {"space.create", "space.fill", "space.switch"} <= verbs


def test_a_space_of_another_server_keeps_its_address(shop, settings):
    with OpenAIServer(word_vectors) as other:
        place = Where(base_url=other.base_url)
        second = create(SpaceSpec("openai", "words-16", 16), place, by=BY, at=now())
        start_filling(second, by=BY, at=now())
        fill()
        assert (other.calls > 1, shop.missing(EmbeddingSpace.objects.get(pk=second.pk))) == (
            True,
            0,
        )
