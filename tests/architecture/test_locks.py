"""Whoever only refers to a row never waits for somebody who has it locked."""

from __future__ import annotations

import ast

from config.private import ROOT
from tests.architecture.source import server_modules


def locks():
    for path in server_modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("select_for_update"):
                told = {word.arg: ast.unparse(word.value) for word in node.keywords}
                yield f"{path.relative_to(ROOT)}:{node.lineno}", told


def test_no_row_is_locked_against_rows_that_refer_to_it():
    found = dict(locks())
    assert len(found) > 40
    assert [place for place, told in found.items() if told.get("no_key") != "True"] == []
