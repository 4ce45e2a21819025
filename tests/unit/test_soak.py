"""What a soak is failed for."""

import json
from datetime import UTC, datetime

import pytest

from bench.soak_notes import Notes
from bench.soak_sampling import Sample
from bench.soak_verdict import MOST_RISE, faults, rises


def samples(**growing):
    """An hour of samples; what is named rises by so much an hour."""
    steady = {"memory_mb": 500.0, "backends_mb": 200.0, "connections": 18, "pending_s": 1.0}
    return [
        Sample(
            at=at,
            memory_of={},
            **{name: value + growing.get(name, 0) * at / 3600 for name, value in steady.items()},
        )
        for at in range(0, 3600, 60)
    ]


def soaked(found=(), answers=None, *, sound=True):
    return {
        "asked_for": 1000,
        "answers": {"broken": 0} | (answers if answers is not None else {"200": 995}),
        "canaries": {"sound": sound},
        "verdicts": rises(found or samples()),
    }


def test_an_hour_in_which_all_was_answered_and_nothing_grew_is_passed():
    assert not list(faults(soaked()))


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"200": 999, "503 overloaded": 1}, "1 searches were refused or failed"),
        ({"200": 999, "503 unavailable": 1}, "1 searches were refused or failed"),
        ({"200": 999, "429 rate_limited": 1}, "1 searches were refused or failed"),
        ({"200": 999, "504 timeout": 1}, "1 searches had no answer"),
        ({"200": 999, "broken": 1}, "1 searches had no answer"),
        ({"200": 899}, "899 searches were answered of 1000 asked for"),
        ({}, "0 searches were answered of 1000 asked for"),
    ],
)
def test_whatever_was_not_answered_fails_the_soak(answers, sentence):
    (told,) = faults(soaked(answers=answers))
    assert told.startswith(sentence)


@pytest.mark.parametrize("name", MOST_RISE)
def test_each_line_that_rises_fails_the_soak(name):
    (told,) = faults(soaked(samples(**{name: 100})))
    assert told.startswith(f"{name} grows")


def test_looks_for_canaries_that_were_not_sound_fail_the_soak():
    (told,) = faults(soaked(sound=False))
    assert told.startswith("The looks for canaries")


@pytest.fixture
def notes(monkeypatch, tmp_path):
    monkeypatch.setattr("bench.soak_notes.home", lambda: tmp_path)
    return Notes(datetime(2026, 3, 2, 9, 30, tzinfo=UTC))


def test_a_soak_that_is_killed_leaves_what_it_saw(notes, tmp_path):
    notes.begin({"asked_for": 1000})
    for sample in samples()[:3]:
        notes.add(sample)
    kept = (tmp_path / "soak" / "2026-03-02-093000.jsonl").read_text().splitlines()
    assert json.loads(kept[0]) == {"asked_for": 1000}
    assert [json.loads(line)["at"] for line in kept[1:]] == [0, 60, 120]


def test_every_five_minutes_a_line_says_what_was_seen(notes, capsys):
    for sample in samples()[:11]:
        notes.add(sample)
    told = capsys.readouterr().out.splitlines()
    assert [line.split(" min")[0].strip() for line in told] == ["5", "10"]
    assert "backends_mb 200" in told[0]


def test_the_report_of_a_soak_that_ended_holds_every_sample(notes, tmp_path):
    for sample in samples():
        notes.add(sample)
    picture = notes.finish(soaked())
    assert picture.read_text().startswith("<svg")
    assert len(json.loads(picture.with_suffix(".json").read_text())["samples"]) == 60
    assert not picture.with_suffix(".jsonl").exists()
