"""Every part of the bench that needs no other engine runs, at a size at which it shows nothing."""

import json
import os
import subprocess
import sys

import pytest

from bench.parts import PARTS, part
from bench.serving import environment_for
from config.private import ROOT


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_there(name):
    assert callable(part(name))


def measured(wanted, folder):
    """Run parts by name and return what they wrote."""
    environment = os.environ | {
        "SIZE": "1k", "QUESTIONS": "2", "SECONDS": "1", "CLIENTS": "1", "PEERS": "0",
        "ONLY": ",".join(wanted), "OUT": str(folder / "out.json"),
        "EARMARK_RUNS": str(folder / "runs"),
    }  # fmt: skip
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "-m", "bench"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    parts = json.loads((folder / "out.json").read_text())["parts"]
    assert sorted(parts) == sorted(wanted), done.stderr[-2000:]
    assert json.loads((folder / "runs" / "bench.json").read_text())["parts"] == parts
    return {name: found["figures"] for name, found in parts.items()}


def test_the_parts_measure_and_write_what_they_found(tmp_path):
    figures = measured(["dense", "growth", "search"], tmp_path)
    cells = figures["dense"]["cells"]
    assert {cell["timings"]["earmark"]["recall"] for cell in cells} == {1.0}
    assert all("render" in steps for steps in figures["search"]["steps"].values())


def test_servers_of_the_bench_run_as_production_does_and_count_every_request():
    environment = environment_for("any", 9)
    done = subprocess.run(
        [sys.executable, "-c", "import django; django.setup();"
         "from django.conf import settings as s; print(all(s.VOICE_RATES.values()), s.LOG_LEVEL,"
         " s.SECURE_SSL_REDIRECT, s.TRUSTED_PROXIES)"],
        cwd=ROOT, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert environment["DJANGO_SETTINGS_MODULE"] == "config.settings.prod"
    assert done.stdout.split() == ["True", "INFO", "True", "1"], done.stderr[-2000:]


@pytest.mark.slow
def test_load_is_put_on_a_real_server(tmp_path):
    loads = measured(["load"], tmp_path)["load"]["loads"]
    assert {load["other"] for load in loads} == {0}


def test_a_part_that_does_not_exist_is_refused():
    environment = os.environ | {"ONLY": "nonsense"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "-m", "bench"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "ONLY names some of dense" in done.stdout
