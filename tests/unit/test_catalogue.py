from __future__ import annotations

import pytest
from babel.messages.catalog import Catalog

from config.catalogue.files import follow, forms_of
from config.catalogue.judging import wrong_in
from config.catalogue.templates import Sentence, sentences, untranslated


@pytest.fixture
def page(tmp_path):
    def write(text):
        path = tmp_path / "page.html"
        path.write_text("{% load i18n %}" + text)
        return path

    return write


def arabic(*pairs):
    catalogue = Catalog(locale="ar")
    for one, text in pairs:
        catalogue.add(one, text)
    return catalogue


def complaints(catalogue, *said):
    return list(wrong_in(catalogue, {Sentence(*sentence): {"a.html"} for sentence in said}))


def test_the_sentences_of_both_tags_are_found_as_they_are_looked_up(page):
    path = page(
        '{% if x %}{% translate "Save 5 %" %}{% else %}{% blocktranslate count n=x %}{{ n }} day'
        "{% plural %}{{ n }} days{% endblocktranslate %}{% endif %}"
    )
    assert sorted(sentences(path)) == [
        Sentence("%(n)s day", "%(n)s days"),
        Sentence("Save 5 %%"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<p>Nothing here</p>",
        '<nav aria-label="Pages"></nav>',
        '<img alt="A picture" src="x.png">',
        '<input type="submit" value="Save">',
        '{{ name|default:"nobody" }}',
    ],
)
def test_english_that_no_tag_covers_is_found(page, text):
    assert len(untranslated(page(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        '<p class="notice">{% translate "Nothing here" %}</p>',
        "{% blocktranslate %}Nothing here{% endblocktranslate %}",
        "{% comment %}Nothing here{% endcomment %}",
        '<input type="hidden" value="post"><code>slug</code>',
        '{% block bodyclass %}{{ block.super }} wide{% endblock %}<a href="{% url "x" %}">CSV</a>',
        "<p data-keep=\"{{ pk|default:'new' }}\">{{ name|default:'-' }}</p>",
        "<p>{{ at }} UTC &rsaquo; {{ name }}</p>",
    ],
)
def test_what_a_tag_covers_and_what_nobody_reads_is_left_alone(page, text):
    assert untranslated(page(text)) == []


def test_a_sentence_that_is_not_there_or_empty_is_named_with_its_file():
    told = complaints(arabic(("Save", "")), ("Save", None), ("Open", None))
    assert told == [
        "not in the catalogue: 'Open' (a.html)",
        "not translated: 'Save' (a.html)",
    ]


def test_a_fuzzy_translation_does_not_count():
    catalogue = Catalog(locale="ar")
    catalogue.add("Save", "حفظ", flags=["fuzzy"])
    assert complaints(catalogue, ("Save", None)) == ["marked fuzzy: 'Save' (a.html)"]


def test_other_places_of_values_are_found():
    catalogue = arabic(("%(n)s of %(all)s", "%(n)s من %(al)s"), ("{who} left", "غادر"))
    assert len(complaints(catalogue)) == 2


def test_none_one_and_two_may_be_said_without_a_named_number():
    forms = ("لا شيء", "يوم", "يومان", "{n} أيام", "{n} يومًا", "{n} يوم")
    sentence = ("{n} day", "{n} days")
    assert complaints(arabic((sentence, forms)), sentence) == []
    without = (*forms[:3], "أيام", *forms[4:])
    assert len(complaints(arabic((sentence, without)), sentence)) == 1


def test_a_number_without_a_name_stays_in_every_form():
    forms = ("لا شيء", "يوم", "يومان", "%s أيام", "%s يومًا", "%s يوم")
    assert len(complaints(arabic((("%s day", "%s days"), forms)))) == 1


def test_gathering_keeps_translations_and_forgets_what_is_not_said():
    kept = follow(arabic(("Save", "حفظ"), ("Gone", "ذهب")), {Sentence("Save"): {"a.html"}})
    assert {message.id: forms_of(message) for message in kept if message.id} == {"Save": ("حفظ",)}


def test_gathering_gives_a_counted_sentence_room_for_every_form():
    kept = follow(arabic(), {Sentence("{n} day", "{n} days"): {"a.py"}})
    assert [forms_of(message) for message in kept if message.id] == [("",) * 6]


def test_one_word_about_two_things_is_two_sentences(page):
    path = page('{% translate "Live" %}{% translate "Live" context "index" %}')
    said = set(sentences(path))
    assert said == {Sentence("Live"), Sentence("Live", None, "index")}
    catalogue = arabic(("Live", "منشور"))
    assert complaints(catalogue, *said) == ["not in the catalogue: 'Live' (a.html)"]
    catalogue.add("Live", "محدّث", context="index")
    assert complaints(catalogue, *said) == []
