from __future__ import annotations

import threading

import pytest

from knowledge.embedding.breaker import Breaker


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def breaker(clock):
    return Breaker(failures=3, window_s=20, open_s=15, clock=clock)


def fail(breaker, times):
    for _ in range(times):
        breaker.failed()


def test_fewer_failures_leave_it_closed(breaker):
    fail(breaker, 2)
    assert breaker.wait_s() == 0


def test_enough_failures_open_it(breaker):
    fail(breaker, 3)
    assert breaker.wait_s() == 15


def test_failures_far_apart_leave_it_closed(breaker, clock):
    for _ in range(6):
        breaker.failed()
        clock.now += 11
    assert breaker.wait_s() == 0


def test_a_success_forgets_the_failures(breaker):
    fail(breaker, 2)
    breaker.succeeded()
    fail(breaker, 2)
    assert breaker.wait_s() == 0


def test_one_probe_goes_and_the_others_wait(breaker, clock):
    fail(breaker, 3)
    clock.now += 15
    assert [breaker.wait_s() for _ in range(3)] == [0, 15, 15]


def test_a_probe_that_fails_opens_it_again(breaker, clock):
    fail(breaker, 3)
    clock.now += 15
    breaker.wait_s()
    clock.now += 2
    breaker.failed()
    assert breaker.wait_s() == 15


def test_a_probe_that_succeeds_closes_it(breaker, clock):
    fail(breaker, 3)
    clock.now += 15
    breaker.wait_s()
    breaker.succeeded()
    assert [breaker.wait_s() for _ in range(3)] == [0, 0, 0]


def test_a_probe_that_never_reports_is_replaced(breaker, clock):
    fail(breaker, 3)
    clock.now += 15
    breaker.wait_s()
    clock.now += 15
    assert breaker.wait_s() == 0


def test_a_probe_that_learned_nothing_leaves_the_next_one_to_probe(breaker, clock):
    fail(breaker, 3)
    clock.now += 15
    breaker.wait_s()
    breaker.undecided()
    assert [breaker.wait_s() for _ in range(3)] == [0, 15, 15]


def test_only_the_probe_can_hand_its_turn_on(breaker, clock):
    fail(breaker, 3)
    clock.now += 15
    thread = threading.Thread(target=breaker.wait_s)
    thread.start()
    thread.join()
    breaker.undecided()
    assert breaker.wait_s() == 15


def test_a_call_that_learned_nothing_changes_nothing(breaker):
    fail(breaker, 2)
    breaker.undecided()
    assert breaker.wait_s() == 0
    breaker.failed()
    breaker.undecided()
    assert breaker.wait_s() == 15
