from __future__ import annotations

import subprocess
import sys

import pytest

from config.private import ROOT
from tests.architecture.source import files, pure_modules

REPORT = "import sys, {}; print('django' in sys.modules, 'celery' in sys.modules)"


@pytest.mark.parametrize("module", pure_modules())
def test_a_pure_module_loads_no_framework(module):
    done = subprocess.run(
        [sys.executable, "-c", REPORT.format(module)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False", "False"]


def test_packages_are_empty_files():
    assert [path for path in files(".py") if path.name == "__init__.py" and path.read_text()] == []


def test_imports_follow_the_ladder():
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
