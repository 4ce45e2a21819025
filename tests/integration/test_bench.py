"""Every part of the bench that needs no other engine runs, at a size at which it shows nothing."""

import json
import os
import subprocess
import sys

import pytest

from bench.parts import PARTS, part
from config.private import ROOT


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_there(name):
    assert callable(part(name))


def test_the_parts_measure_and_write_what_they_found(tmp_path):
    wanted = ["dense", "growth", "search", "load"]
    environment = os.environ | {
        "SIZE": "1k", "QUESTIONS": "2", "SECONDS": "1", "CLIENTS": "1", "PEERS": "0",
        "ONLY": ",".join(wanted), "OUT": str(tmp_path / "out.json"),
        "EARMARK_RUNS": str(tmp_path / "runs"),
    }  # fmt: skip
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "-m", "bench"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    parts = json.loads((tmp_path / "out.json").read_text())["parts"]
    assert sorted(parts) == sorted(wanted), done.stderr[-2000:]
    assert json.loads((tmp_path / "runs" / "bench.json").read_text())["parts"] == parts
    cells = parts["dense"]["figures"]["cells"]
    assert {cell["timings"]["earmark"]["recall"] for cell in cells} == {1.0}
    assert {load["other"] for load in parts["load"]["figures"]["loads"]} == {0}
    assert all("render" in steps for steps in parts["search"]["figures"]["steps"].values())


def test_a_part_that_does_not_exist_is_refused():
    environment = os.environ | {"ONLY": "nonsense"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "-m", "bench"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "ONLY names some of dense" in done.stdout
