from __future__ import annotations

import json
import logging

import pytest

from config.logs import REQUEST_ID, JsonLines, RequestIdFilter


@pytest.fixture
def line():
    def write(message, **options):
        record = logging.getLogger("t").makeRecord("t", 20, __file__, 1, message, (), **options)
        RequestIdFilter().filter(record)
        return json.loads(JsonLines().format(record))

    return write


def test_a_log_line_is_json_with_the_request_id(line):
    token = REQUEST_ID.set("r-1")
    try:
        written = line("request", exc_info=None, extra={"status": 200})
    finally:
        REQUEST_ID.reset(token)
    assert (written["message"], written["request_id"], written["status"]) == ("request", "r-1", 200)


def test_a_logged_exception_keeps_its_place_and_loses_its_text(line):
    try:
        try:
            raise KeyError("the caller said 4111")
        except KeyError as cause:
            raise ValueError("an item body") from cause
    except ValueError as error:
        written = line("failed", exc_info=(type(error), error, error.__traceback__))
    assert "ValueError" in written["exc_info"]
    assert "KeyError" in written["exc_info"]
    assert "test_logs.py" in written["exc_info"]
    assert "body" not in str(written)
    assert "4111" not in str(written)


def test_the_secret_of_a_link_is_in_no_line(line):
    written = line("Not Found: /people/join/s3cret/", exc_info=None)
    assert written["message"] == "Not Found: /people/join/…"
    assert "t0ken" not in str(line("Forbidden: /people/password/MQ/t0ken/", exc_info=None))
