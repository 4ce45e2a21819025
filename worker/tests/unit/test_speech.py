import pytest

from earmark_worker.speech.formatter import SpeechFormatter, format_text, speech_transform

CASES = [
    ("en", "Call +971 50 123 4567.", "Call plus 9 7 1, 5 0, 1 2 3, 4 5 6 7."),
    ("en", "Your order is 48213097.", "Your order is 4 8 2 1, 3 0 9 7."),
    ("en", "Your PIN is 0423.", "Your PIN is 0 4 2 3."),
    ("en", "The code is 9917.", "The code is 9 9 1 7."),
    ("en", "Dial 911 now.", "Dial 9 1 1 now."),
    ("en", "In 2026 we NEVER charge.", "In 2026 we NEVER charge."),
    ("en", "See the FAQ and two ATMs.", "See the F A Q and two A T Ms."),
    ("en", "Do NOT share your SSN.", "Do NOT share your S S N."),
    ("en", "PLEASE CALL NOW", "PLEASE CALL NOW"),
    ("en", "It costs $1,250.50.", "It costs 1,250.50 dollars."),
    ("en", "Pay AED 50 or 1 EUR.", "Pay 50 UAE dirhams or 1 euro."),
    ("en", "5-7 days at -5°C", "5 to 7 days at minus 5 degrees Celsius"),
    ("en", "2024-2026 at 17:30", "2024 to 2026 at 17:30"),
    ("en", "5% off 20kg", "5 percent off 20 kilograms"),
    ("en", "10-15% off", "10 to 15 percent off"),
    ("en", "Your PPR-9087 is ready.", "Your P P R, 9 0 8 7 is ready."),
    ("en", "Card 1234-5678-9012-3456.", "Card 1 2 3 4, 5 6 7 8, 9 0 1 2, 3 4 5 6."),
    ("en", "1,250,000 items", "1,250,000 items"),
    ("en", "by 2026-05-03", "by 3 May 2026"),
    ("en-US", "by 05/03/2026", "by May 3, 2026"),
    ("en-GB", "by 05/03/2026", "by 5 March 2026"),
    ("en", "on 31/31/2026", "on 3 1, 3 1, 2 0 2 6"),
    ("en", "mail care@acme.com.", "mail care at acme dot com."),
    ("en", "See https://acme.com/my-help.", "See acme dot com slash my dash help."),
    ("ar", "رقم الطلب 48213097", "رقم الطلب 4 8 2 1, 3 0 9 7"),
    ("ar", "رقمك ٤٨٢١٣٠٩٧", "رقمك ٤ ٨ ٢ ١, ٣ ٠ ٩ ٧"),
    ("ar", "لا يوجد خصم 5%", "لا يوجد خصم 5 بالمئة"),
    ("ar", "الوزن 2 kg", "الوزن 2 كيلوغرام"),
    ("es", "Cuesta 12,50 €.", "Cuesta 12,50 euros."),
    ("es-ES", "Llame al 912 345 678.", "Llame al 9 1 2, 3 4 5, 6 7 8."),
    ("es", "5-7 días, 10%", "5 a 7 días, 10 por ciento"),
    ("de", "Das kostet 1.250,50 € nicht.", "Das kostet 1.250,50 Euro nicht."),
    ("de", "am 03.05.2026", "am 3. Mai 2026"),
    ("de-DE", "Tel. 030 1234567", "Tel. 0 3 0, 1 2 3 4 5 6 7"),
    ("fr", "Le code est 1234, pas 12 %.", "Le code est 1 2 3 4, pas 12 pour cent."),
    ("fr", "avant le 03/05/2026", "avant le 3 mai 2026"),
    ("hi", "₹1,00,000 लगेंगे", "1,00,000 भारतीय रुपए लगेंगे"),
    ("en-IN", "It costs ₹12,34,567.50.", "It costs 12,34,567.50 Indian rupees."),
    ("ar", "المبلغ ١٬٢٥٠٫٥٠ AED", "المبلغ ١٬٢٥٠٫٥٠ درهم إماراتي"),
    ("fr", "Cela coûte 1\u202f250,50 €.", "Cela coûte 1\u202f250,50 euros."),
    ("hi", "₹500 नहीं लगेगा", "500 भारतीय रुपए नहीं लगेगा"),
    ("hi", "आपका नंबर 48213097 है", "आपका नंबर 4 8 2 1, 3 0 9 7 है"),
    ("zh", "订单号是48213097，不是5%。", "订单号是4 8 2 1, 3 0 9 7，不是百分之5。"),
    ("zh", "2026-05-03之前，重5kg。", "2026年5月3日之前，重5千克。"),
]


@pytest.mark.parametrize(("language", "written", "spoken"), CASES)
def test_text_is_spoken_as_a_listener_expects(language, written, spoken):
    assert format_text(written, language) == spoken


@pytest.mark.parametrize(("language", "written", "spoken"), CASES)
def test_text_arriving_one_character_at_a_time_is_spoken_the_same(language, written, spoken):
    formatter = SpeechFormatter(language)
    assert "".join(map(formatter.feed, written)) + formatter.flush() == spoken


def test_plain_sentences_are_not_held_back():
    formatter = SpeechFormatter("en")
    assert formatter.feed("I can help with that. Let me").startswith("I can help with that. ")


async def test_the_transform_yields_what_is_ready_before_the_stream_ends():
    async def stream():
        for chunk in ("Your refund is on its way. ", "It takes 5", "-7 days."):
            yield chunk

    pieces = [piece async for piece in speech_transform("en")(stream())]
    assert pieces[0].startswith("Your refund is")
    assert "".join(pieces) == "Your refund is on its way. It takes 5 to 7 days."
