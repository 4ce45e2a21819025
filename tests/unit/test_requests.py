from __future__ import annotations

import pytest
from django.http import HttpResponse

from config.requests import RequestIdMiddleware, client_address


@pytest.fixture
def answered(rf):
    def answer(**headers):
        middleware = RequestIdMiddleware(lambda _request: HttpResponse())
        return middleware(rf.get("/", headers=headers)).headers["X-Request-Id"]

    return answer


def test_a_well_formed_request_id_comes_back(answered):
    assert answered(**{"x-request-id": "call-7.a_b"}) == "call-7.a_b"


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "é", '"}'])
def test_any_other_request_id_is_replaced(answered, given):
    replaced = answered(**{"x-request-id": given})
    assert len(replaced) == 32
    assert replaced != given


@pytest.mark.parametrize(
    ("trusted", "forwarded", "seen"),
    [
        (0, "6.6.6.6", "127.0.0.1"),
        (1, "6.6.6.6, 2.2.2.2", "2.2.2.2"),
        (2, "6.6.6.6, 2.2.2.2, 3.3.3.3", "2.2.2.2"),
        (2, "2.2.2.2", "127.0.0.1"),
        (1, "", "127.0.0.1"),
    ],
)
def test_the_caller_is_seen_past_trusted_proxies_only(rf, settings, trusted, forwarded, seen):
    settings.TRUSTED_PROXIES = trusted
    assert client_address(rf.get("/", headers={"x-forwarded-for": forwarded})) == seen
