from __future__ import annotations

import re
import subprocess

from config.private import ROOT
from tests.architecture.source import files, server_modules

MACHINE = re.compile(
    "/" + r"root/|/" + r"work/(?:main|shared)|pythonhosted\." + r"org|--index-" + "url"
)
VAGUE = frozenset({"utils", "helpers", "services", "common", "core"})


def tracked():
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    names = [name for name in done.stdout.decode().split("\0") if name]
    return [ROOT / name for name in names] or files()


def test_no_file_names_a_machine_or_a_package_host():
    texts = {
        path: path.read_bytes().decode(errors="replace") for path in tracked() if path.is_file()
    }
    assert [str(path) for path, text in texts.items() if MACHINE.search(text)] == []


def test_modules_are_named_for_what_they_do():
    parts = {path: set(path.with_suffix("").relative_to(ROOT).parts) for path in server_modules()}
    assert [path for path, names in parts.items() if names & VAGUE] == []


def test_the_readme_can_be_read_in_three_minutes():
    words = [len(readme.read_text().split()) for readme in ROOT.glob("README.md")]
    assert all(400 <= count <= 700 for count in words), words
