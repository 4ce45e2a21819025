"""A poisonous file kills the child that reads it, and nothing else."""

from __future__ import annotations

import resource
import time

import pytest

from knowledge.ingestion.errors import (
    ReaderCrashed,
    ReaderOutOfMemory,
    ReaderTimedOut,
    Unreadable,
)
from knowledge.ingestion.sandbox import Sandbox


@pytest.fixture
def sandbox():
    with Sandbox(wall_seconds=60, child="tests.poisoned_reader") as sandbox:
        yield sandbox


@pytest.fixture
def hasty():
    with Sandbox(wall_seconds=3, child="tests.poisoned_reader") as hasty:
        yield hasty


def read(sandbox, poison, path="/nonexistent"):
    return list(sandbox.read(str(path), poison))


@pytest.mark.parametrize(
    ("poison", "error"),
    [
        ("abort", ReaderCrashed),
        ("exit", ReaderCrashed),
        ("swallow", ReaderOutOfMemory),
        ("deepen", ReaderCrashed),
        ("raise", ReaderCrashed),
    ],
)
def test_the_next_file_is_read_after_a_poisonous_one(sandbox, poison, error):
    with pytest.raises(error):
        read(sandbox, poison)
    assert read(sandbox, "fine")[0].title == "fine"


@pytest.mark.parametrize("poison", ["spin", "sleep"])
def test_the_next_file_is_read_after_one_that_never_ends(hasty, poison):
    with pytest.raises(ReaderTimedOut):
        read(hasty, poison)
    assert read(hasty, "fine")[0].title == "fine"


def test_a_poisonous_file_takes_no_memory_here(sandbox):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ReaderOutOfMemory):
        read(sandbox, "swallow")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_one_child_reads_file_after_file(sandbox):
    assert read(sandbox, "fine")[0].body == read(sandbox, "fine")[0].body


def test_what_a_library_prints_is_no_answer(sandbox):
    assert len(read(sandbox, "print")) == 1


@pytest.mark.parametrize("poison", ["connect", "run"])
def test_a_reader_has_no_network_and_starts_nothing(sandbox, poison):
    with pytest.raises(Unreadable, match="PermissionError"):
        read(sandbox, poison)


def test_a_reader_writes_no_file(sandbox, tmp_path):
    with pytest.raises(Unreadable, match="PermissionError"):
        read(sandbox, "write", tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_has_none_of_our_secrets(sandbox, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "very secret")
    with pytest.raises(Unreadable, match="KeyError"):
        read(sandbox, "environment")


def test_a_reason_says_nothing_of_the_text(sandbox):
    with pytest.raises(ReaderCrashed) as refused:
        read(sandbox, "raise")
    assert "secret text" not in str(refused.value)


def test_an_abandoned_file_is_not_taken_for_the_next(sandbox, tmp_path):
    next(iter(sandbox.read("/nonexistent", "fine")))
    assert [text.title for text in read(sandbox, "print")] == ["print"]


def test_the_child_ends_with_the_import():
    with Sandbox(child="tests.poisoned_reader") as sandbox:
        pid = int(read(sandbox, "fine")[0].body)
    deadline = time.monotonic() + 5
    while _is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_alive(pid)


def _is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as status:
            return status.read().split()[2] != "Z"
    except OSError:
        return False
