"""The Arabic catalogue: every sentence of the scope pages, with the places of its values."""

from __future__ import annotations

import gettext as gnu
import re

import pytest
from django.utils import translation

from config.private import ROOT
from scopes.selector import words
from tests.scope_pages import desk

CATALOGUE = ROOT / "locale/ar/LC_MESSAGES"
IN_TEMPLATES = re.compile(
    r"""{% translate (?:"([^"]+)"|'([^']+)') %}|{% blocktranslate[^%]*%}(.*?){% end"""
)
IN_CODE = re.compile(r"""\b(?:_|gettext_lazy|ngettext)\(\s*((?:"[^"]*"\s*)+)""")
ARABIC = re.compile("[\u0600-\u06ff]")


def sentences():
    found = set()
    for path in (ROOT / "templates/scopes").glob("*.html"):
        for one, other, block in IN_TEMPLATES.findall(path.read_text()):
            found.add(one or other or re.sub(r"{{ (\w+) }}", r"%(\1)s", block))
    for path in (ROOT / "scopes/selector").glob("*.py"):
        for quoted in IN_CODE.findall(path.read_text()):
            found.add("".join(re.findall(r'"([^"]*)"', quoted)))
    return found - {""}


@pytest.fixture(scope="module")
def catalogue():
    with (CATALOGUE / "django.mo").open("rb") as file:
        return gnu.GNUTranslations(file)


def test_every_sentence_of_the_scope_pages_is_translated(catalogue):
    known = catalogue._catalog
    missing = [s for s in sentences() if s not in known and (s, 0) not in known]
    assert missing == []


def test_translations_keep_the_places_of_values(catalogue):
    places = re.compile(r"{\w+}|%\(\w+\)s")
    wrong = []
    for key, text in catalogue._catalog.items():
        source = key[0] if isinstance(key, tuple) else key
        if source and sorted(places.findall(source)) != sorted(places.findall(text)):
            wrong.append(source)
    assert wrong == []


def test_the_compiled_catalogue_is_the_written_one(catalogue):
    written = (CATALOGUE / "django.po").read_text()
    for key, text in catalogue._catalog.items():
        if key:
            assert text.replace('"', '\\"') in written


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
