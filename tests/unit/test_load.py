"""What a load tells apart: refused at once, failed late, and what the server itself took for it."""

import json

import pytest

from bench.clients import kind_of
from bench.heard import load_of, server_times


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, {"status": "ok"}, "200"),
        (404, {"error": {"code": "not_found"}}, "404"),
        (429, {"error": {"code": "rate_limited"}}, "429 rate_limited"),
        (503, {"error": {"code": "overloaded"}}, "503 overloaded"),
        (503, {"error": {"code": "database_away"}}, "503 database_away"),
        (503, {"status": "unavailable", "results": []}, "503 unavailable"),
        (504, {"status": "timeout"}, "504 timeout"),
        (500, "not an object", "500"),
        (500, {"detail": "of somebody else"}, "500"),
    ],
)
def test_a_refusal_is_told_by_what_its_body_says(status, body, kind):
    assert kind_of(status, json.dumps(body).encode()) == kind


def test_a_body_that_is_no_json_says_nothing():
    assert kind_of(502, b"<html>") == "502"


def heard(**kinds):
    return {"seconds": kinds, "refused": [], "broken": 0, "server": []}


def test_a_search_that_failed_is_not_counted_as_refused():
    came = {"200": [0.2], "503 overloaded": [0.01], "503 unavailable": [2.0, 2.1]}
    load = load_of("earmark", 8, heard(**came), 200, 1.0)
    assert (load.refused, load.refused_p95) == (1, 10.0)
    assert (load.other, load.others) == (2, {"503 unavailable": 2})


def test_the_servers_own_time_is_that_of_the_requests_it_refused(tmp_path):
    log = tmp_path / "log"
    lines = [
        {"logger": "earmark.request", "request_id": "a", "milliseconds": 0.4},
        {"logger": "earmark.request", "request_id": "b", "milliseconds": 200.0},
        {"logger": "another", "request_id": "a"},
    ]
    log.write_text("a line of a library\n" + "\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    assert server_times(log, ["a"]) == [0.4]
    assert server_times(log, []) == []
