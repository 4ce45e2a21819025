"""The Arabic catalogue and the page that counts in it."""

from __future__ import annotations

import re

import pytest
from django.utils import translation

from config.catalogue.judging import complaints
from scopes.selector import words
from tests.scope_pages import desk

ARABIC = re.compile("[\u0600-\u06ff]")


def test_everything_that_people_see_is_translated_and_compiled():
    found = complaints()
    told = "Translate this in locale/ar/LC_MESSAGES/django.po, then run: make messages"
    assert found == [], "\n".join([told, *found])


def test_each_plural_of_the_script_has_its_own_words():
    with translation.override("ar"):
        forms = words.script_words()["unsaved"]
    assert len(set(forms.values())) == 5
    assert all(ARABIC.search(text) for text in forms.values())


@pytest.mark.django_db
def test_the_page_reads_in_arabic_from_right_to_left():
    at_desk = desk()
    page = at_desk.admin.get(at_desk.url, headers={"Accept-Language": "ar"})
    text = page.content.decode()
    assert 'dir="rtl"' in text
    assert "الكل قابل للبحث" in text
    assert "All searchable" not in text
