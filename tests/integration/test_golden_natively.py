"""A verified answer in English comes first for callers who ask in their own language, and their own way."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from knowledge.calibration.fitting import fit
from knowledge.embedding.selection import current_embedder
from knowledge.embedding.spaces import active_space
from knowledge.indexing.converge import Workshop, budget, converge_batch
from knowledge.indexing.draining import due_assets
from tests.answers import CONTENT, Staff
from tests.voice import runtime

pytestmark = pytest.mark.django_db(transaction=True)

ANSWERS = {
    "How do I get a refund?": (
        "Send the order back within 30 days and we return the money to your card in five days.",
        ("Can I return it?", "I want my money back", "Do you refund cancelled orders?"),
    ),
    "When are you open?": (
        "The shop is open from nine in the morning to eight in the evening, except on Sundays.",
        ("What are your opening hours?", "Are you open on Sunday?"),
    ),
    "How long does delivery take?": (
        "An order reaches you in two to four working days; express delivery takes one.",
        ("When will my parcel arrive?", "How fast do you ship?"),
    ),
    "Which cards do you take?": (
        "We accept every debit and credit card, and payment on account for companies.",
        ("How can I pay?", "Do you accept credit cards?"),
    ),
    "How do I change my address?": (
        "Change the address in your account until the parcel has left our warehouse.",
        ("I have moved house", "The parcel should go somewhere else"),
    ),
    "Is there a warranty?": (
        "Everything is under warranty for two years; repairs are free in that time.",
        ("The device is broken", "How long is the guarantee?"),
    ),
}
ASKED = (
    "能退吗",
    "can I get my money back",
    "هل يمكنني استرجاع المبلغ",
    "um hi so uh I bought this thing last week and it well it doesn't fit me so I was wondering"
    " like can I get my money back",
)

NOT_ASKED = ("I do not want a refund", "What is the capital of Peru?", "会下雨吗", "قائمة الافلام")


@pytest.fixture
def shop(settings):
    settings.EMBEDDING_MODEL = "local"
    staff = Staff()
    for question, (answer, phrasings) in ANSWERS.items():
        staff.published(replace(CONTENT, question=question, answer=answer, paraphrases=phrasings))
    later = timezone.now() + timedelta(seconds=1)
    workshop = Workshop(current_embedder(), timezone.now, budget())
    for organization_id, assets in due_assets(at=later, most=100).items():
        converge_batch(organization_id, assets, workshop)
    space = active_space()
    assert space is not None
    fit(staff.organization.pk, space, current_embedder(), at=later)
    return staff


def heard(shop, texts):
    voice = runtime(shop.organization)
    session = voice.session(shop.agent)
    answers = {text: voice.search(shop.agent, session, text).json() for text in texts}
    return {
        text: next(((r["type"], r["title"]) for r in answer["results"]), None)
        for text, answer in answers.items()
    }


def test_a_caller_hears_the_verified_answer_first_in_their_own_language_and_words(shop):
    assert heard(shop, ASKED) == dict.fromkeys(ASKED, ("golden", "How do I get a refund?"))


def test_nobody_hears_an_answer_to_what_they_do_not_want_or_what_the_shop_does_not_know(shop):
    assert heard(shop, NOT_ASKED) == dict.fromkeys(NOT_ASKED)
