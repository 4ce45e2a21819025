from __future__ import annotations

import io
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from django.core.management import call_command

from golden.acting import Act
from golden.content import Content
from golden.drafting import create_answer
from golden.publishing import override_publish
from knowledge.calibration.asking import asked_of
from knowledge.calibration.bank import LANGUAGES, questions
from knowledge.calibration.corpus import sampled
from knowledge.calibration.fitting import fit
from knowledge.calibration.refitting import refit_all_due
from knowledge.calibration.shipped import shipped_vectors
from knowledge.embedding.local import LOCAL_SPACE
from knowledge.embedding.spaces import ensure_space
from knowledge.indexing.converge import Workshop, converge_batch
from knowledge.indexing.draining import due_assets
from knowledge.management.commands import calibrate
from knowledge.models import CalibrationProfile, CorpusTerm
from knowledge.passages import CHUNKER_VERSION
from knowledge.retrieval.statistics import statistics_for
from knowledge.text.keys import token_key
from tenants.auditing import Actor
from tests.embedders import CountingEmbedder
from tests.world import AT, tenant

ACT = Act(Actor.process("tests"), AT, "Because.")
pytestmark = pytest.mark.django_db(transaction=True)


class Corpus:
    def __init__(self):
        self.acme = tenant("acme")
        self.embedder = CountingEmbedder()
        self.hours = self.acme.item("Opening hours", "We open at seven in the morning.")
        self.acme.item("Prices", "A ticket costs ten in the morning.", language="en")
        self.acme.item("Preise", "Eine Karte kostet zehn Euro.", language="de")
        self.acme.instruction("Refunds", "Ask for the receipt.")
        self.drain()

    def drain(self):
        workshop = Workshop(self.embedder, lambda: AT, lambda: True)
        while due := due_assets(at=AT, most=10):
            for organization_id, assets in due.items():
                converge_batch(organization_id, assets, workshop)

    @property
    def space(self):
        return ensure_space(self.embedder.space, chunker_version=CHUNKER_VERSION)

    def fit(self, at=AT):
        return fit(self.acme.organization.pk, self.space, self.embedder, at=at)

    def statistics(self, *words):
        organization_id = self.acme.organization.pk
        keys = [token_key(organization_id, word) for word in words]
        with self.acme.context():
            found = statistics_for(organization_id, self.space.pk, keys)
        return found, [found.frequencies.get(key, 0) for key in keys]


@pytest.fixture
def corpus():
    return Corpus()


def test_the_bank_has_about_120_different_questions_in_each_language():
    assert all(110 <= len(set(questions(language))) <= 130 for language in LANGUAGES)


def test_a_profile_counts_in_how_many_passages_a_word_stands(corpus):
    corpus.fit()
    statistics, counts = corpus.statistics("morning", "ticket", "unheard")
    assert (statistics.passages, counts) == (4, [2, 1, 0])


def test_what_nobody_may_hear_is_not_counted(corpus):
    corpus.acme.change_item(corpus.hours, review_status="rejected")
    corpus.fit()
    assert corpus.statistics("morning")[1] == [1]


def test_a_profile_names_the_languages_of_the_corpus(corpus):
    assert corpus.fit().languages == ["en", "de"]


def test_a_profile_says_what_questions_about_something_else_reach(corpus):
    figures = corpus.fit().parameters["bank"]
    assert set(figures) == {*LANGUAGES, "all"}
    assert figures["all"]["count"] == 960
    assert -1 <= figures["en"]["quantiles"][0] <= figures["en"]["mean"] <= 1


def test_a_profile_says_what_the_corpus_s_own_sentences_reach(corpus):
    imitated = corpus.fit().parameters["imitated"]
    assert imitated["count"] == 3
    assert -1 <= imitated["mean"] <= 1


def test_a_phrasing_is_asked_as_if_its_answer_did_not_have_it(corpus):
    corpus.acme.item(
        "May I have it back?", "Yes.", kind="golden", published_version=UUID(int=1),
        phrasings=["Is it refundable?", "Do I get my money?"],
    )  # fmt: skip
    corpus.drain()
    asked = asked_of(corpus.acme.organization.pk, corpus.space)
    assert [question.imitates for question in asked].count("phrasing") == 1


def test_both_errors_are_stated_with_their_intervals(corpus):
    stated = corpus.fit().parameters["errors"]
    assert set(stated) == {"false_refusal", "false_answer", "false_answer_elsewhere"}
    for rate in stated.values():
        assert 0 <= rate["low"] <= rate["rate"] <= rate["high"] <= 1
        assert rate["count"] > 0


def test_the_command_shows_both_errors(corpus, monkeypatch):
    monkeypatch.setattr(calibrate, "current_embedder", lambda: corpus.embedder)
    out = io.StringIO()
    call_command("calibrate", organization="acme", stdout=out)
    assert "own sentences and phrasings refused: " in out.getvalue()
    assert "general questions answered, in the corpus's languages: " in out.getvalue()


def test_the_spread_of_cosine_is_measured(corpus):
    profile = corpus.fit()
    assert 0 < profile.cosine_deviation < 1
    assert corpus.statistics()[0].cosine_deviation == profile.cosine_deviation


def test_the_same_corpus_gives_the_same_figures(corpus):
    one, other = corpus.fit(), corpus.fit()
    assert one.parameters == other.parameters
    assert one.cosine_deviation == other.cosine_deviation


def test_the_same_golden_answers_are_drawn_in_the_same_order_wherever_they_are(corpus):
    questions = [f"Question number {number}?" for number in range(8)]
    drawn: list[list[str]] = []
    for asked in (questions, questions[::-1]):
        place = tenant(f"shop-{len(drawn)}")
        for question in asked:
            content = Content(question=question, answer="It is as it was.")
            made = create_answer(place.organization, content, ACT)
            override_publish(place.organization.pk, made.pk, ACT)
        corpus.drain()
        drawn.append([one.title for one in sampled(place.organization.pk, corpus.space)])
    assert sorted(drawn[0]) == questions
    assert drawn[0] == drawn[1]


def test_the_same_corpus_is_asked_the_same_wherever_it_is(corpus):
    asked: list[list[str]] = []
    for _ in range(2):
        place = tenant(f"twin-{len(asked)}")
        for number in range(8):
            place.item(
                f"Guide {number}",
                " ".join(f"Shelf {number} of this house has box {n}." for n in range(9)),
            )
        corpus.drain()
        asked.append([q.text for q in asked_of(place.organization.pk, corpus.space)])
    assert asked[0] == asked[1]


def test_fitting_again_pays_for_nothing_again(corpus):
    corpus.fit()
    paid = sum(corpus.embedder.asked.values())
    corpus.fit()
    assert sum(corpus.embedder.asked.values()) - paid == 3


def test_one_version_is_active_and_five_are_kept(corpus):
    for _ in range(7):
        corpus.fit()
    with corpus.acme.context():
        versions = CalibrationProfile.objects.order_by("version")
        assert [profile.version for profile in versions] == [3, 4, 5, 6, 7]
        assert [profile.version for profile in versions if profile.is_active] == [7]
        assert CorpusTerm.objects.values("profile").distinct().count() == 5


def test_an_empty_corpus_has_a_profile_that_says_so():
    acme, embedder = tenant("acme"), CountingEmbedder()
    space = ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)
    profile = fit(acme.organization.pk, space, embedder, at=AT)
    assert (profile.passages, profile.parameters) == (0, {"bank": {}})


def test_a_corpus_is_measured_again_when_it_has_come_to_rest(corpus, monkeypatch):
    at = AT + timedelta(seconds=10)
    given_back = []
    monkeypatch.setattr(
        "knowledge.calibration.refitting._give_memory_back", lambda: given_back.append(at)
    )
    assert refit_all_due(corpus.embedder, at=at) == ["acme"]
    assert given_back == [at]
    assert refit_all_due(corpus.embedder, at=at) == []
    assert given_back == [at]


def test_nothing_is_measured_while_content_still_comes_in(corpus):
    corpus.acme.item("New")
    assert refit_all_due(corpus.embedder, at=AT + timedelta(seconds=10)) == []


def test_the_bank_ships_with_the_vectors_of_the_local_model():
    asked = [text for language in LANGUAGES for text in questions(language)]
    assert set(shipped_vectors(asked, LOCAL_SPACE)) == set(asked)


def test_the_bank_s_vectors_are_of_the_local_model_only():
    other = replace(LOCAL_SPACE, model="another")
    assert shipped_vectors(questions("en"), other) == {}
