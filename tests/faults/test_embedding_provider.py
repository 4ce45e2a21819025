from __future__ import annotations

import logging
import os
import signal
import threading
import time
from email.utils import format_datetime

import numpy as np
import pytest

from knowledge.embedding.breaker import Breaker
from knowledge.embedding.openai_compatible import Endpoint, OpenAICompatibleEmbedder
from knowledge.embedding.protocol import SpaceSpec
from knowledge.embedding.selection import embedder_from_settings
from knowledge.errors import EmbeddingRejected, EmbeddingTimeout, EmbeddingUnavailable
from tests.openai_server import OpenAIServer, instant_vectors

SECRET = "my card number is 4012888888881881"


@pytest.fixture
def server():
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def embedder(server):
    return embedder_of(server.base_url)


def embedder_of(base_url, **breaker):
    space = SpaceSpec("openai", "some-model", 384, query_prefix="q: ", passage_prefix="p: ")
    return OpenAICompatibleEmbedder(
        space, Endpoint(base_url, api_key="sk-secret"), breaker=Breaker(**breaker)
    )


def ask(embedder, *texts, deadline_s=5.0):
    return embedder.embed_passages(list(texts or ["one", "two", "three"]), deadline_s=deadline_s)


def timed(action):
    began = time.monotonic()
    with pytest.raises(EmbeddingTimeout):
        action()
    return time.monotonic() - began


def test_an_answer_in_another_order_is_put_in_order(server, embedder):
    plain = ask(embedder)
    server.behave("reversed")
    np.testing.assert_array_equal(ask(embedder), plain)


@pytest.mark.parametrize(
    "behaviour",
    ["gapped", "repeated", "empty", "error_body", "html", "truncated", "hung_up", "not_a_number",
     "zeros", "broken", "unavailable", "rate_limited"],
)  # fmt: skip
def test_what_is_no_answer_now_may_be_one_later(server, embedder, behaviour):
    server.behave(behaviour)
    with pytest.raises(EmbeddingUnavailable) as raised:
        ask(embedder)
    assert raised.value.retryable


@pytest.mark.parametrize("behaviour", ["short", "forbidden", "refused"])
def test_what_would_be_refused_again_is_not_worth_a_retry(server, embedder, behaviour):
    server.behave(behaviour)
    with pytest.raises(EmbeddingRejected) as raised:
        ask(embedder)
    assert not raised.value.retryable


def test_the_next_call_after_a_bad_answer_works(server, embedder):
    server.behave("truncated", times=1)
    with pytest.raises(EmbeddingUnavailable):
        ask(embedder)
    assert len(ask(embedder)) == 3


@pytest.mark.parametrize("behaviour", ["silent", "drip"])
def test_a_deadline_ends_the_wait_for_a_server_that_does_not_finish(server, embedder, behaviour):
    server.behave(behaviour)
    assert timed(lambda: ask(embedder, deadline_s=0.5)) < 0.8


def test_a_late_call_is_cancelled_and_leaves_no_thread_waiting(server, embedder):
    ask(embedder)
    before = threading.active_count()
    server.behave("silent", times=3)
    for _ in range(3):
        timed(lambda: ask(embedder, deadline_s=0.2))
    server.stopping.set()
    deadline = time.monotonic() + 2
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert threading.active_count() <= before


def test_the_wait_the_provider_asks_for_travels_with_the_error(server, embedder):
    server.behave("rate_limited", retry_after=7)
    with pytest.raises(EmbeddingUnavailable) as raised:
        ask(embedder)
    assert raised.value.retry_after == 7


def test_the_wait_may_be_given_as_a_date(server, embedder, at):
    server.behave("rate_limited", retry_after=format_datetime(at.replace(year=2099), usegmt=True))
    with pytest.raises(EmbeddingUnavailable) as raised:
        ask(embedder)
    assert raised.value.retry_after == 3600


def test_each_failure_costs_one_request(server, embedder):
    server.behave("broken")
    with pytest.raises(EmbeddingUnavailable):
        ask(embedder)
    assert server.calls == 1


def test_after_five_failures_nobody_waits_and_the_server_is_left_alone(server, embedder):
    server.behave("broken")
    for _ in range(7):
        with pytest.raises(EmbeddingUnavailable):
            ask(embedder)
    assert server.calls == 5


def test_an_open_breaker_says_when_to_come_back(server):
    embedder = embedder_of(server.base_url, failures=1, open_s=15, clock=lambda: 0.0)
    server.behave("broken")
    with pytest.raises(EmbeddingUnavailable):
        ask(embedder)
    with pytest.raises(EmbeddingUnavailable) as raised:
        ask(embedder)
    assert raised.value.retry_after == 15


def test_a_probe_that_succeeds_lets_everybody_in_again(server):
    now = [0.0]
    embedder = embedder_of(server.base_url, clock=lambda: now[0])
    server.behave("broken", times=5)
    for _ in range(5):
        with pytest.raises(EmbeddingUnavailable):
            ask(embedder)
    now[0] = 15.0
    assert len(ask(embedder)) == len(ask(embedder)) == 3


def test_callers_in_a_hurry_do_not_close_the_provider_to_the_others(server, embedder):
    server.behave(delay_s=0.2)
    for _ in range(5):
        timed(lambda: ask(embedder, "one", deadline_s=0.05))
    assert len(ask(embedder, "one", deadline_s=4)) == 1


def test_many_texts_that_had_little_time_do_not_close_it_either(server, embedder):
    server.behave(delay_s=3, times=5)
    for _ in range(5):
        timed(lambda: ask(embedder, *["one"] * 64, deadline_s=1.05))
    assert len(ask(embedder, "one", deadline_s=4)) == 1


def test_a_provider_that_had_time_enough_and_was_late_is_left_alone(server, embedder):
    server.behave("silent")
    for _ in range(5):
        timed(lambda: ask(embedder, "one", deadline_s=1.05))
    with pytest.raises(EmbeddingUnavailable):
        ask(embedder, "one")


def test_a_probe_in_a_hurry_leaves_the_next_call_to_probe(server):
    now = [0.0]
    embedder = embedder_of(server.base_url, clock=lambda: now[0])
    server.behave("broken", times=5)
    for _ in range(5):
        with pytest.raises(EmbeddingUnavailable):
            ask(embedder)
    now[0] = 15.0
    server.behave(delay_s=0.2)
    timed(lambda: ask(embedder, deadline_s=0.05))
    assert len(ask(embedder)) == 3


def test_rate_limits_and_refusals_do_not_open_the_breaker(server, embedder):
    for behaviour in ["rate_limited"] * 4 + ["refused"] * 4:
        server.behave(behaviour)
        with pytest.raises((EmbeddingUnavailable, EmbeddingRejected)):
            ask(embedder)
    assert server.calls == 8


def test_a_port_nobody_listens_on_is_unavailable():
    with OpenAIServer() as server:
        url = server.base_url
    with pytest.raises(EmbeddingUnavailable):
        ask(embedder_of(url))


def test_a_server_that_comes_back_is_used_again():
    with OpenAIServer() as first:
        embedder, port = embedder_of(first.base_url), first.port
        ask(embedder)
    with pytest.raises(EmbeddingUnavailable):
        ask(embedder)
    with OpenAIServer(port=port):
        assert len(ask(embedder)) == 3


def test_texts_and_keys_appear_in_no_log_and_no_error(server, embedder, caplog):
    caplog.set_level(logging.DEBUG)
    server.behave("refused")
    with pytest.raises(EmbeddingRejected) as raised:
        ask(embedder, SECRET)
    written = caplog.text + str(raised.value) + repr(raised.value.data) + repr(vars(embedder))
    assert SECRET not in written
    assert "sk-secret" not in written


def test_the_reason_a_provider_gives_is_kept_as_its_code(server, embedder):
    server.behave("forbidden")
    with pytest.raises(EmbeddingRejected, match=r"answered 401 \(invalid_api_key\)"):
        ask(embedder)


def works_in_a_forked_child(action):
    child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException:
            os._exit(1)
        os._exit(0)
    impatience = threading.Timer(20, os.kill, (child, signal.SIGKILL))
    impatience.start()
    _, status = os.waitpid(child, 0)
    impatience.cancel()
    return os.waitstatus_to_exitcode(status) == 0


def test_a_forked_child_embeds_with_connections_of_its_own(server, embedder):
    ask(embedder)
    assert works_in_a_forked_child(lambda: ask(embedder))
    assert len(ask(embedder)) == 3


def test_a_forked_child_embeds_with_a_local_engine_of_its_own():
    ask(embedder_from_settings({}))
    assert works_in_a_forked_child(lambda: ask(embedder_from_settings({}), "new in the child"))


def test_callers_in_many_threads_share_one_loop(server, embedder):
    server.behave(delay_s=0.2)
    threads = [threading.Thread(target=ask, args=(embedder, f"text {n}")) for n in range(16)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.calls == 16
    assert time.monotonic() - began < 2


def test_prefixes_dimensions_and_model_reach_the_provider():
    space = SpaceSpec("openai", "m", 64, query_prefix="search: ")
    with OpenAIServer(instant_vectors) as server:
        embedder = OpenAICompatibleEmbedder(
            space, Endpoint(server.base_url, api_key="k", asks_dimensions=True)
        )
        (vector,) = embedder.embed_queries(["refund"], deadline_s=5)
    assert vector.shape == (64,)
    assert server.bodies[0] == {
        "model": "m",
        "input": ["search: refund"],
        "dimensions": 64,
        "encoding_format": "float",
    }
    assert server.authorizations[0] == "Bearer k"
