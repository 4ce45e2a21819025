from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from knowledge.embedding.spaces import SpaceNotInUse
from knowledge.errors import EmbeddingRejected, EmbeddingUnavailable
from knowledge.indexing.converge import Workshop, converge, converge_batch
from knowledge.indexing.leases import LEASE, claim
from knowledge.indexing.writing import withdraw
from knowledge.models import Chunk, Document, EmbeddedText, IndexState, Item, Vector
from tests.embedders import CountingEmbedder
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def embedder():
    return CountingEmbedder()


def run(acme, *ids, embedder, at=AT):
    workshop = Workshop(embedder, lambda: at, lambda: True)
    return converge_batch(acme.organization.pk, [("knowledge", one) for one in ids], workshop)


def state(acme, asset_id):
    with acme.context():
        return IndexState.objects.get(asset_id=asset_id)


def indexed(acme):
    with acme.context():
        return {
            (document.asset_id, document.generation, document.chunks.count())
            for document in Document.objects.all()
        }


def refuse(marker, error):
    def before(texts):
        if any(marker in text for text in texts):
            raise error

    return before


def test_an_item_is_indexed_with_its_title_its_passages_and_its_phrasings(acme, embedder):
    item = acme.item("Hours", "We open at seven.", phrasings=["when do you open"])
    converge(acme.organization.pk, "knowledge", item, embedder=embedder, clock=lambda: AT)
    with acme.context():
        positions = set(Chunk.objects.values_list("position", flat=True))
        assert positions == {-2, -1, 0} == set(Vector.objects.values_list("position", flat=True))


def test_a_converged_asset_is_live_and_keeps_no_paid_text_behind(acme, embedder):
    item = acme.item("Hours")
    run(acme, item, embedder=embedder)
    row = state(acme, item)
    assert (row.status, row.attempts, row.lease_token) == ("live", 0, None)
    assert row.applied_generation == row.desired_generation == 1
    assert not EmbeddedText.objects.exists()


def test_converging_twice_asks_for_nothing_again(acme, embedder):
    item = acme.item("Hours")
    run(acme, item, embedder=embedder)
    run(acme, item, embedder=embedder)
    assert embedder.calls == [2]


def test_only_changed_text_is_embedded_again(acme, embedder):
    item = acme.item("Hours", "We open at seven.")
    run(acme, item, embedder=embedder)
    acme.item("Hours", "We open at eight.")
    run(acme, item, embedder=embedder)
    assert embedder.calls == [2, 1]
    assert indexed(acme) == {(item, 2, 2)}


def test_equal_text_under_two_ids_has_two_documents_and_is_paid_once(acme, embedder):
    one = acme.item("one", "Same words.", title="Same")
    other = acme.item("other", "Same words.", title="Same")
    run(acme, one, other, embedder=embedder)
    assert {asset for asset, _, _ in indexed(acme)} == {one, other}
    assert embedder.paid_twice == []


def test_withdrawing_one_of_two_equal_assets_leaves_the_other(acme, embedder):
    one = acme.item("one", "Same words.", title="Same")
    other = acme.item("other", "Same words.", title="Same")
    run(acme, one, other, embedder=embedder)
    with acme.context():
        withdraw(Item.objects.get(pk=one), at=AT)
    run(acme, one, embedder=embedder)
    assert {asset for asset, _, _ in indexed(acme)} == {other}


def test_a_deleted_item_leaves_the_index(acme, embedder):
    item = acme.item("Hours")
    run(acme, item, embedder=embedder)
    with acme.context():
        withdraw(Item.objects.get(pk=item), at=AT)
    run(acme, item, embedder=embedder)
    assert indexed(acme) == set()
    assert not Vector.objects.exists()


def test_a_change_while_embedding_is_not_overwritten_by_the_older_text(acme, embedder):
    item = acme.item("Hours", "We open at seven.")
    changed: list[object] = []

    def change_once(texts):
        if not changed:
            changed.append(acme.item("Hours", "We open at eight."))

    embedder.before = change_once
    first = run(acme, item, embedder=embedder)
    assert (first.applied, indexed(acme)) == (set(), set())
    run(acme, item, embedder=embedder)
    assert indexed(acme) == {(item, 2, 2)}
    assert embedder.paid_twice == []


def test_a_lost_lease_writes_nothing(acme, embedder):
    item = acme.item("Hours")

    def lose(texts):
        with acme.context():
            IndexState.objects.update(lease_until=AT)
            claim(acme.organization.pk, [item], at=AT + timedelta(seconds=1))

    embedder.before = lose
    assert run(acme, item, embedder=embedder).applied == set()
    assert indexed(acme) == set()


def test_what_a_dead_process_paid_for_is_used_by_the_next(acme, embedder):
    item = acme.item("Hours", "We open at seven.")

    class Killed(BaseException):
        pass

    def die(texts):
        raise Killed

    run_out = CountingEmbedder(before=die)
    with pytest.raises(Killed):
        run(acme, item, embedder=run_out)
    run(acme, item, embedder=embedder)
    assert indexed(acme) == {(item, 1, 2)}


def test_an_unavailable_provider_never_fails_an_asset(acme, embedder):
    item = acme.item("Hours")
    embedder.before = refuse("", EmbeddingUnavailable())
    at = AT
    for _ in range(12):
        at += timedelta(minutes=11)
        run(acme, item, embedder=embedder, at=at)
    row = state(acme, item)
    assert (row.status, row.attempts, row.last_error_code) == (
        "retrying", 12, "embedding_unavailable"
    )  # fmt: skip
    assert row.next_attempt_at - at == timedelta(minutes=10)


def test_the_provider_says_how_long_to_wait(acme, embedder):
    item = acme.item("Hours")
    embedder.before = refuse("", EmbeddingUnavailable(retry_after=60))
    run(acme, item, embedder=embedder)
    assert state(acme, item).next_attempt_at == AT + timedelta(seconds=60)


def test_a_rejected_text_fails_after_five_attempts_with_a_reason(acme, embedder):
    item = acme.item("Hours")
    embedder.before = refuse("", EmbeddingRejected("It is too odd."))
    for minutes in range(6):
        run(acme, item, embedder=embedder, at=AT + timedelta(minutes=minutes))
    row = state(acme, item)
    assert (row.status, row.attempts, row.last_error) == ("failed", 5, "It is too odd.")


def test_outages_do_not_count_towards_failing(acme, embedder):
    item = acme.item("Hours")
    for minutes in range(1, 100, 11):
        embedder.before = refuse("", EmbeddingUnavailable())
        run(acme, item, embedder=embedder, at=AT + timedelta(minutes=minutes))
    embedder.before = refuse("", EmbeddingRejected())
    run(acme, item, embedder=embedder, at=AT + timedelta(minutes=120))
    assert (state(acme, item).status, state(acme, item).attempts) == ("retrying", 1)


def test_a_poison_document_does_not_take_the_batch_down(acme, embedder):
    good = [acme.item(f"good {number}") for number in range(5)]
    bad = acme.item("bad", "poison here")
    embedder.before = refuse("poison", EmbeddingRejected())
    outcome = run(acme, *good, bad, embedder=embedder)
    assert (outcome.applied, set(outcome.failed)) == (set(good), {bad})


def test_a_refusal_of_everything_is_not_asked_text_by_text(acme, embedder):
    items = [acme.item(f"item {number}") for number in range(20)]
    embedder.before = refuse("", EmbeddingRejected())
    outcome = run(acme, *items, embedder=embedder)
    assert embedder.calls[1:] == [1, 1, 1]
    codes = Counter(failure.code for failure in outcome.failed.values())
    assert codes == {"embedding_rejected": 3, "embedding_unavailable": 17}


def test_many_poison_documents_do_not_condemn_those_beside_them(acme, embedder):
    bad = [acme.item(f"poison {number}", "poison") for number in range(5)]
    good = [acme.item(f"a good one {number}") for number in range(5)]
    embedder.before = refuse("poison", EmbeddingRejected())
    for minutes in range(0, 200, 11):
        run(acme, *bad, *good, embedder=embedder, at=AT + timedelta(minutes=minutes))
    assert {asset for asset, _, _ in indexed(acme)} == set(good)
    assert {state(acme, one).status for one in bad} == {"failed"}


def die(acme, *ids, at):
    with acme.context():
        return claim(acme.organization.pk, ids, at=at)


def test_after_two_deaths_an_asset_is_tried_alone(acme):
    items = [acme.item(f"item {number}") for number in range(20)]
    sizes = [len(die(acme, *items, at=AT + number * 2 * LEASE)) for number in range(5)]
    assert sizes == [20, 8, 8, 4, 1]


def test_what_ends_the_process_in_every_attempt_fails_in_the_end(acme):
    item = acme.item("bad")
    attempts = [len(die(acme, item, at=AT + number * 2 * LEASE)) for number in range(8)]
    assert (attempts, state(acme, item).status) == ([1] * 5 + [0] * 3, "failed")


def test_the_survivors_of_a_death_are_indexed(acme, embedder):
    items = [acme.item(f"item {number}") for number in range(3)]
    die(acme, *items, at=AT)
    for number in range(1, 4):
        run(acme, *items, embedder=embedder, at=AT + number * 2 * LEASE)
    assert {asset for asset, _, _ in indexed(acme)} == set(items)


def test_time_that_runs_out_keeps_what_was_paid_and_costs_no_attempt(acme, embedder):
    item = acme.item("Long", "\n\n".join(f"# Part {n}\n{'word ' * 150}{n}" for n in range(150)))
    workshop = Workshop(embedder, lambda: AT, lambda: False)
    first = converge_batch(acme.organization.pk, [("knowledge", item)], workshop)
    assert (first.applied, embedder.calls, state(acme, item).attempts) == (set(), [first.bought], 0)
    run(acme, item, embedder=embedder)
    assert {asset for asset, _, _ in indexed(acme)} == {item}
    assert embedder.paid_twice == []


def test_another_model_writes_no_vector_while_one_space_is_searched(acme, embedder):
    item = acme.item("Hours")
    run(acme, item, embedder=embedder)
    acme.item("Hours", "Changed.")
    with pytest.raises(SpaceNotInUse):
        run(acme, item, embedder=CountingEmbedder(model="other"))
    assert Vector.objects.values("space").distinct().count() == 1
