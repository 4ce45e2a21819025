from __future__ import annotations

import pytest

from knowledge.text.speech import prepare_for_embedding


@pytest.mark.parametrize(
    ("heard", "written"),
    [
        ("um how do i uh get a refund", "How do i get a refund?"),
        ("so how can i pay", "So how can i pay?"),
        ("do you have parking", "Do you have parking?"),
        ("the leader was called what", "The leader was called what?"),
        ("i want to cancel my order", "I want to cancel my order"),
        ("i have a problem", "I have a problem"),
        ("refund policy", "Refund policy"),
        ("How do I pay", "How do I pay?"),
        ("äh wie kann ich bezahlen", "Wie kann ich bezahlen?"),
        ("puedo pagar con tarjeta", "Puedo pagar con tarjeta?"),
        ("comment annuler ma commande", "Comment annuler ma commande?"),
        ("كيف أسترجع المبلغ", "كيف أسترجع المبلغ؟"),
        ("वापसी कैसे करें", "वापसी कैसे करें?"),
        ("как вернуть деньги", "Как вернуть деньги?"),
        ("如何退款", "如何退款？"),
        ("返金できますか", "返金できますか？"),
        ("환불 어떻게 해요", "환불 어떻게 해요?"),
        ("[10-digit structured value] is invalid", "[10-digit structured value] is invalid"),
    ],
)
def test_a_heard_query_is_written_as_it_would_be_typed(heard, written):
    assert prepare_for_embedding(heard) == written


@pytest.mark.parametrize("text", ["how do i pay?", "Um, no.", "من أنت؟", "退款。", "ok!", "fees:"])
def test_text_that_is_already_punctuated_is_left_alone(text):
    assert prepare_for_embedding(f"  {text} ") == text


def test_a_word_that_is_a_filler_elsewhere_stays():
    assert prepare_for_embedding("um wie viel uhr ist es", "de") == "Um wie viel uhr ist es?"


def test_a_query_of_fillers_alone_is_not_emptied():
    assert prepare_for_embedding("um uh", "en") == "Um uh"


def test_a_letter_without_a_single_capital_stays():
    assert prepare_for_embedding("ßtest", "de") == "ßtest"
