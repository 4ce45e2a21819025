import asyncio

import pytest

from earmark_worker.events import Announcer, Ledger
from earmark_worker.search_plan import SearchPlan
from earmark_worker.speculation import Speculations
from earmark_worker.turn_context import capture
from tests.fakes.backend import a_reply, view_of

CONTEXT = capture(view_of("c:I want a refund"), {})


def a_plan(*queries, turn="t-1", pins=None, context=CONTEXT):
    return SearchPlan(turn, queries or ("refund",), context, pins)


class Runs:
    def __init__(self):
        self.started = []
        self.release = asyncio.Event()
        self.cancelled = 0

    async def __call__(self, plan):
        self.started.append(plan)
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return a_reply()


@pytest.fixture
def runs():
    return Runs()


def a_table(runs, clock=None):
    ledger = Ledger()
    table = Speculations(runs, Announcer((ledger,)), **({"clock": clock} if clock else {}))
    return table, ledger


async def test_an_authorised_call_adopts_the_exact_future(runs):
    table, ledger = a_table(runs)
    table.start(a_plan(), generation="g", call="c")
    first = table.claim(a_plan(), generation="g")
    runs.release.set()
    assert (await first).search == "r-1"
    assert len(runs.started) == 1
    assert ledger.used == 1


async def test_a_search_is_used_once(runs):
    table, _ = a_table(runs)
    table.start(a_plan(), generation="g", call="c")
    assert table.claim(a_plan(), generation="g") is not None
    assert table.claim(a_plan(), generation="g") is None


@pytest.mark.parametrize(
    "other",
    [
        a_plan("returns"),
        a_plan(turn="t-2"),
        a_plan(context=capture(view_of("c:I want a return"), {})),
        a_plan("refund", "money back"),
    ],
)
async def test_another_turn_argument_or_context_is_another_search(runs, other):
    table, _ = a_table(runs)
    table.start(a_plan(), generation="g", call="c")
    assert table.claim(other, generation="g") is None


async def test_a_fourth_search_in_flight_is_refused_and_none_is_evicted(runs):
    table, ledger = a_table(runs)
    started = [table.start(a_plan(f"q{i}"), generation="g", call="c") for i in range(4)]
    assert started == [True, True, True, False]
    assert ledger.refused == 1
    assert all(table.claim(a_plan(f"q{i}"), generation="g") for i in range(3))


async def test_a_used_search_still_counts_until_it_comes_back(runs):
    table, _ = a_table(runs)
    for i in range(3):
        table.start(a_plan(f"q{i}"), generation="g", call="c")
    table.claim(a_plan("q0"), generation="g")
    assert not table.start(a_plan("q9"), generation="g", call="c")
    runs.release.set()
    await asyncio.sleep(0.01)
    assert table.in_flight == 0
    assert table.start(a_plan("q9"), generation="g", call="c")


async def test_a_regenerated_call_adopts_the_search_of_a_discarded_generation(runs):
    table, _ = a_table(runs)
    table.start(a_plan(), generation="discarded", call="c1")
    assert not table.start(a_plan(), generation="regenerated", call="c2")
    await asyncio.sleep(0)
    assert table.claim(a_plan(), generation="regenerated") is not None
    assert len(runs.started) == 1


async def test_the_end_of_the_turn_cancels_what_nobody_used(runs):
    table, ledger = a_table(runs)
    table.start(a_plan(), generation="g", call="c")
    await asyncio.sleep(0)
    table.end_turn(except_for="t-1")
    assert table.in_flight == 1
    table.end_turn(except_for="t-2")
    await asyncio.sleep(0.01)
    assert (table.in_flight, runs.cancelled, ledger.wasted) == (0, 1, 1)


async def test_the_lead_is_measured_from_start_to_authorisation(runs):
    now = [0.0]
    told = []
    table = Speculations(runs, Announcer((told.append,)), clock=lambda: now[0])
    table.start(a_plan(), generation="g", call="c")
    runs.release.set()
    now[0] = 0.2
    await asyncio.sleep(0.01)
    now[0] = 0.5
    table.claim(a_plan(), generation="g")
    used = told[-1]
    assert used.head_start_ms == pytest.approx(500)
    assert used.ready_before_ms == pytest.approx(300)
    assert used.won_ms == pytest.approx(200)
