"""A question in one language finds the article that is written in another."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from knowledge.calibration.fitting import fit
from knowledge.embedding.selection import current_embedder
from knowledge.embedding.spaces import active_space
from knowledge.indexing.converge import Workshop, budget, converge_batch
from knowledge.indexing.draining import due_assets
from tests.voice import runtime
from tests.world import tenant

pytestmark = pytest.mark.django_db(transaction=True)

ARTICLES = {
    "Refunds for cancelled tickets": "A ticket that is cancelled a day before departure is refunded in full to the card it was paid with.",
    "Lost luggage": "Report a suitcase that did not arrive at the desk in the arrivals hall within seven days.",
    "Opening hours of the lounge": "The lounge opens at six in the morning and closes at midnight on every day of the week.",
    "Travelling with a dog": "Dogs of up to eight kilograms travel in the cabin in a closed carrier under the seat.",
    "Changing the name on a booking": "A misspelt name is corrected free of charge up to two hours before the flight.",
    "Wheelchair assistance": "Ask for a wheelchair when you book, or call us two days before you travel.",
}
QUESTIONS = {
    "ar": ("كيف أسترد ثمن التذكرة بعد إلغائها؟", "Refunds for cancelled tickets"),
    "zh": ("我的行李箱没有到，应该在哪里报告？", "Lost luggage"),
    "es": ("¿A qué hora abre la sala VIP?", "Opening hours of the lounge"),
    "de": ("Darf mein Hund in der Kabine mitfliegen?", "Travelling with a dog"),
    "hi": ("टिकट पर नाम गलत लिखा है, उसे कैसे ठीक करें?", "Changing the name on a booking"),
    "ru": ("Мне нужна инвалидная коляска в аэропорту", "Wheelchair assistance"),
}


@pytest.fixture
def airline(settings):
    settings.EMBEDDING_MODEL = "local"
    airline = tenant("airline")
    for title, body in ARTICLES.items():
        airline.item(title, body, language="en")
    later = timezone.now() + timedelta(seconds=1)
    workshop = Workshop(current_embedder(), timezone.now, budget())
    for organization_id, assets in due_assets(at=later, most=100).items():
        converge_batch(organization_id, assets, workshop)
    space = active_space()
    assert space is not None
    fit(airline.organization.pk, space, current_embedder(), at=later)
    return airline


def test_a_question_in_any_of_six_languages_finds_the_english_article(airline):
    agent, voice = airline.agent(), runtime(airline.organization)
    session = voice.session(agent)
    first = {}
    for language, (question, _) in QUESTIONS.items():
        results = voice.search(agent, session, question).json()["results"]
        first[language] = results[0]["title"] if results else None
    assert first == {language: title for language, (_, title) in QUESTIONS.items()}
