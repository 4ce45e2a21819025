from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from config.private import ROOT

ANSWERS = {
    "hours": ("Opening hours", "The shop opens at seven in the morning and closes at nine."),
    "refund": ("Refunds", "Money comes back to the card within five working days."),
    "parking": ("Parking", "Guests park for free behind the building."),
}
ASKED = {
    "hours": "When does the shop open?",
    "refund": "How long until money comes back to my card?",
    "parking": "Where can guests park?",
}


def write_set(folder, right=lambda name: name):
    (folder / "tiny").mkdir(parents=True, exist_ok=True)
    documents = [
        {"id": name, "title": title, "text": text, "lang": "en", "folder": "help"}
        for name, (title, text) in ANSWERS.items()
    ]
    questions = [
        {"id": f"{name}-{n}", "text": text, "lang": "en", "kind": "in_scope", "relevant": [right(name)]}
        for name, text in ASKED.items()
        for n in range(5)
    ]  # fmt: skip
    for name, rows in (("corpus", documents), ("queries", questions)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "tiny" / f"{name}.jsonl").write_text(lines, "utf-8")


def run(folder, **wanted):
    return subprocess.run(
        [sys.executable, "-m", "evals"],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "evals.settings",
            "EVALS": str(folder),
            "BASELINE_FILE": str(folder / "baseline.json"),
            "OUT": str(folder / "out.json"),
            **wanted,
        },
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def test_a_folder_without_sets_is_refused_in_a_sentence(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 1
    assert f"There are no sets in {tmp_path}." in done.stderr


def test_a_set_that_is_not_there_is_named(tmp_path):
    write_set(tmp_path)
    assert "has no set named grand" in run(tmp_path, SETS="grand").stderr


@pytest.mark.slow
def test_a_set_is_measured_through_the_pipeline_and_a_worsened_ranking_fails(tmp_path):
    write_set(tmp_path)
    first = run(tmp_path, BASELINE="write")
    assert first.returncode == 0, first.stderr
    figures = json.loads((tmp_path / "out.json").read_text())["tiny"]["all"]
    assert (figures["nDCG@10"], figures["P@1"], figures["no_match_recall"]) == (1.0, 1.0, 1.0)
    # The same questions with other answers: as if every ranking had got worse.
    wrong = dict(zip(ANSWERS, [*list(ANSWERS)[1:], next(iter(ANSWERS))], strict=True))
    write_set(tmp_path, wrong.get)
    second = run(tmp_path)
    assert second.returncode == 1
    assert "tiny all: nDCG@10" in second.stderr
