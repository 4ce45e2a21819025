"""A log stays small however long its process runs, and its end can be read."""

from __future__ import annotations

import subprocess
import sys

import pytest

from config import children
from config.children import Child
from config.log_files import shorten

LINES = [f"line {number}\n" for number in range(100)]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "web.log"
    path.write_text("".join(LINES))
    return path


def test_of_a_long_log_the_end_is_kept_in_whole_lines(log):
    shorten(log, 100)
    kept = log.read_text().splitlines(keepends=True)
    assert 0 < len(kept) < 15
    assert kept == LINES[-len(kept) :]


def test_a_short_log_stays_as_it_is(log):
    shorten(log, 10_000)
    assert log.read_text() == "".join(LINES)


def test_whoever_appends_goes_on(log):
    with log.open("a") as writer:
        shorten(log, 100)
        writer.write("and more\n")
    assert log.read_text().endswith("line 99\nand more\n")
    assert "\0" not in log.read_text()


def test_a_log_that_is_not_there_is_no_trouble(tmp_path):
    shorten(tmp_path / "nothing.log", 100)
    assert list(tmp_path.iterdir()) == []


def test_the_log_of_a_child_is_shortened_while_it_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(children, "home", lambda: tmp_path)
    monkeypatch.setattr(children, "_LOG_BYTES", 100)
    child = Child("web", [])
    child.log.write_text("".join(LINES))
    child.process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        child.revive()
    finally:
        child.process.communicate(b"\n")
    assert child.log.stat().st_size <= 100
