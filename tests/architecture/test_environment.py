from __future__ import annotations

import re

from config.private import ROOT
from config.variables import VARIABLES
from tests.architecture.source import server_modules

ROW = re.compile(r"^\| `([A-Z_]+)` \| (.*?) \| (.*?) \|$", re.M)
READS = re.compile(r"os\.environ(?!\.setdefault\(\"DJANGO_SETTINGS_MODULE\")|os\.getenv")


def test_operations_lists_every_variable_as_it_is():
    written = ROW.findall((ROOT / "docs/operations.md").read_text())
    assert written == [
        (
            v.name,
            v.meaning,
            "none" if v.default is None else f"`{v.default}`" if v.default else "empty",
        )
        for v in VARIABLES.values()
    ]


def test_variables_are_sorted_by_name():
    assert list(VARIABLES) == sorted(VARIABLES)


def test_the_environment_is_read_in_one_place():
    readers = [path for path in server_modules() if READS.search(path.read_text())]
    assert readers == [ROOT / "config/env.py"]
