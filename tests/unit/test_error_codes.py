from __future__ import annotations

from collections import Counter

from django.core.management import call_command

from voiceapi import catalogue
from voiceapi.errors import VoiceError, status_of


def test_no_two_errors_share_a_code():
    counts = Counter(kind.code for kind in catalogue.error_classes())
    assert [code for code, count in counts.items() if count > 1] == []


def test_every_error_has_a_code_of_its_own():
    classes = catalogue.error_classes()
    assert [kind for kind in classes if "code" not in vars(kind)] == []


def test_every_code_is_listed_once():
    page = catalogue.page().read_text("utf-8")
    rows = Counter(line.split("`")[1] for line in page.splitlines() if line.startswith("| `"))
    assert rows == Counter(kind.code for kind in catalogue.error_classes())


def test_the_list_is_written_from_the_code():
    call_command("errors", "--check")


def test_every_voice_error_has_a_status():
    assert all(status_of(kind()) for kind in VoiceError.__subclasses__())
