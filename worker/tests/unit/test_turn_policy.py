import pytest

from earmark_worker.turn_policy import is_substantive, needs_search
from tests.fakes.backend import view_of

COURTESIES = {
    "en": [
        "hi",
        "Hello, good morning!",
        "yes please",
        "no",
        "okay thanks",
        "goodbye",
        "that's all",
    ],
    "ar": [
        "السلام عليكم",
        "مرحبا",
        "نعم",
        "لا شكرا",
        "شكرا جزيلا، مع السلامة",
        "تمام",
        "صباح الخير",
    ],
    "es": [
        "hola",
        "buenos días",
        "sí, por favor",
        "no",
        "vale, gracias",
        "hasta luego",
        "eso es todo",
    ],
    "de": ["hallo", "guten tag", "ja, bitte", "nein danke", "alles klar", "tschüss", "Wie bitte?"],
    "fr": [
        "bonjour",
        "oui, merci beaucoup",
        "non",
        "d'accord",
        "c'est tout",
        "au revoir",
        "ça va ?",
    ],
    "hi": ["नमस्ते", "जी हाँ", "नहीं", "ठीक है", "धन्यवाद", "फिर मिलेंगे", "बस इतना ही"],
    "zh": ["你好", "是的", "不用了", "好的，谢谢", "明白了", "再见", "没有了"],
}
REQUESTS = {
    "en": [
        "I need a refund",
        "refund",
        "no, that's not it",
        "hi, where is my order?",
        "what is the fee",
    ],
    "ar": ["كيف أسترجع المبلغ", "أريد إلغاء الطلب", "مرحبا، أين طلبي", "متى يفتح الفرع"],
    "es": ["¿Cómo cancelo mi pedido?", "quiero un reembolso", "hola, no funciona la tarjeta"],
    "de": [
        "Wie kann ich kündigen?",
        "Ich möchte eine Rückerstattung",
        "hallo, meine Karte ist weg",
    ],
    "fr": [
        "Comment annuler ma commande ?",
        "je veux un remboursement",
        "bonjour, j'ai perdu ma carte",
    ],
    "hi": ["रिफंड कैसे मिलेगा", "मेरा ऑर्डर कहाँ है", "नमस्ते, मुझे कार्ड बंद करना है"],
    "zh": ["怎么退款", "我要取消订单", "你好，我的卡丢了"],
}


def _cases(table):
    return [(language, text) for language, texts in table.items() for text in texts]


@pytest.mark.parametrize(("language", "said"), _cases(COURTESIES))
def test_a_courtesy_needs_no_search(language, said):
    assert not is_substantive(said)


@pytest.mark.parametrize(("language", "said"), _cases(REQUESTS))
def test_a_request_needs_a_search(language, said):
    assert is_substantive(said)


@pytest.mark.parametrize(
    "said", ["5", "five", "option 2", "九", "خمسة", "drei", "5 out of 5", "123"]
)
def test_a_key_or_a_survey_answer_needs_no_search(said):
    assert not is_substantive(said)


@pytest.mark.parametrize("said", ["1234", "my order 12345678", "one two three four", "٠١٢٣٤٥٦٧"])
def test_a_long_structured_value_needs_a_search(said):
    assert is_substantive(said)


def test_silence_needs_no_search():
    assert not is_substantive(" ... ")


def test_only_the_newest_caller_turn_counts():
    assert needs_search(view_of("c:hi", "a:Hello!", "c:I want a refund"))
    assert not needs_search(view_of("c:I want a refund", "a:Five days."))


def test_a_result_after_the_caller_turn_is_its_search():
    assert not needs_search(view_of("c:I want a refund", "t:unavailable"))


def test_an_instruction_to_the_model_does_not_hide_the_caller_turn():
    assert needs_search(view_of("c:I want a refund", "s:Be brief."))


def test_an_empty_call_needs_no_search():
    assert not needs_search(view_of())
    assert not needs_search(view_of("s:Greet the caller."))


def test_an_answer_to_a_survey_needs_no_search():
    assert not needs_search(view_of("c:the refund took too long"), answering_survey=True)
