from __future__ import annotations

import pytest

from knowledge.text.refusals import is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "I do not want a refund",
        "I don't want a refund.",
        "no, I don’t want to cancel, thanks",
        "please don't cancel my transfer",
        "no quiero un reembolso",
        "Ich möchte keine Erstattung",
        "ich will nicht kündigen",
        "Je ne veux pas de remboursement",
        "لا أريد استرداد المبلغ",
        "我不想退款",
        "不要取消",
        "मुझे रिफंड नहीं चाहिए",
        "İptal etmek istemiyorum",
    ],
)
def test_a_text_that_only_refuses_is_a_refusal(text):
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Can I get a refund?",
        "I don't want a refund, I want a new card",
        "I don't need a refund but where is my card",
        "Why do I not get a refund?",
        "No refund arrived",
        "What if I don't want it?",
        "能退吗",
        "不能退款怎么办",
        "هل يمكنني استرجاع المبلغ",
        "no me llegó el reembolso",
        "Ich habe kein Geld bekommen",
        "no",
    ],
)
def test_a_text_that_asks_or_tells_is_none(text):
    assert not is_refusal(text)
