from __future__ import annotations

import pytest

from knowledge.text.languages import guess_language, language_code, script_of


@pytest.mark.parametrize(
    ("text", "script", "language"),
    [
        ("how do i get a refund", "Latn", "en"),
        ("como cancelo mi pedido", "Latn", "es"),
        ("quanto custa isso", "Latn", "pt"),
        ("wie kann ich bezahlen", "Latn", "de"),
        ("comment annuler ma commande", "Latn", "fr"),
        ("come posso cancellare", "Latn", "it"),
        ("hoe kan ik betalen", "Latn", "nl"),
        ("siparişimi nasıl iptal ederim", "Latn", "tr"),
        ("bagaimana saya bisa membayar", "Latn", "id"),
        ("jak mogę zapłacić", "Latn", "pl"),
        ("hur kan jag betala", "Latn", "sv"),
        ("كيف أسترجع المبلغ", "Arab", "ar"),
        ("چگونه می‌توانم پرداخت کنم", "Arab", "fa"),
        ("میں رقم کیسے واپس لوں", "Arab", "ur"),
        ("वापसी कैसे करें", "Deva", "hi"),
        ("как вернуть деньги", "Cyrl", "ru"),
        ("як повернути гроші", "Cyrl", "uk"),
        ("如何退款", "Hani", "zh"),
        ("返金の方法", "Kana", "ja"),
        ("환불 방법", "Hang", "ko"),
        ("ขอคืนเงิน", "Thai", "th"),
        ("επιστροφή χρημάτων", "Grek", "el"),
        ("החזר כספי", "Hebr", "he"),
        ("iPhone 返金方法", "Hani", "zh"),
    ],
)
def test_a_language_is_told_from_its_letters_and_commonest_words(text, script, language):
    assert script_of(text) == script
    assert guess_language(text) == language


@pytest.mark.parametrize("text", ["refund policy", "Visa", "12345", "", "?!", "😀"])
def test_text_that_tells_nothing_has_no_language(text):
    assert guess_language(text) is None


@pytest.mark.parametrize(
    ("tag", "code"),
    [("pt-BR", "pt"), ("EN_us", "en"), ("ar", "ar"), ("", None), (None, None), ("und", None)],
)
def test_a_tag_names_its_language(tag, code):
    assert language_code(tag) == code
