"""What processes write down about failures is told in the reader's language."""

from __future__ import annotations

import ast

import pytest
from django.utils import translation

from config.private import ROOT
from knowledge.admin_reasons import told

ROOMS = ("knowledge/ingestion", "knowledge/sources")
# Refusals of the operating system, and of a command alone.
NEVER_SHOWN = frozenset({"PermissionError", "ValueError", "from_os_error", "_named"})


def written():
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                    yield path.name, ast.unparse(node.exc.func), node.exc.args[0]


def sample(message):
    if isinstance(message, ast.Constant):
        return message.value
    if not isinstance(message, ast.JoinedStr):
        return None
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "7" for part in message.values
    )


def test_every_reason_of_an_import_or_a_source_has_its_words():
    with translation.override("ar"):
        left = {
            (name, text)
            for name, error, message in written()
            if error not in NEVER_SHOWN and (text := sample(message)) and told(text).isascii()
        }
    assert left == set()


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("It is larger than 20 MiB.", "هو أكبر من 20"),
        ("a.pdf is larger than 20 MiB.", "a.pdf"),
        ("It is named like text and holds an image.", "صورة"),
        ("It holds no text.", "نص"),
    ],
)
def test_the_values_of_a_reason_stay(reason, words):
    with translation.override("ar"):
        assert words in told(reason)


def test_a_reason_that_nobody_foresaw_stays_as_it_is():
    with translation.override("ar"):
        assert told("Something else.") == "Something else."
    with translation.override("en"):
        assert told("It is larger than 20 MiB.") == "It is larger than 20 MiB."
        assert told("") == ""
