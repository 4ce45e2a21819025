from __future__ import annotations

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import CommandError

from tests.guides import blocks, commands


@pytest.mark.parametrize(("page", "words"), commands(), ids=str)
def test_a_command_of_the_documentation_is_understood(page, words):
    name, *rest = words
    command = load_command_class(get_commands()[name], name)
    parser = command.create_parser("manage.py", name)
    try:
        parser.parse_args(rest)
    except CommandError as error:
        pytest.fail(f"{page}: {' '.join(words)}: {error}")


def test_guides_are_named_once():
    names = [name for _, name, _ in blocks() if name]
    assert sorted(set(names)) == sorted(names)
    assert len(names) >= 8
