"""What an amount, a range, a time or a date says must be what was written, in every language."""

import pytest

from earmark_worker.speech.formatter import SpeechFormatter, format_text

RANGES = [
    ("en", "5%-10%", "5 percent to 10 percent"),
    ("en", "5 % – 10 %", "5 percent to 10 percent"),
    ("en", "1.5-2.5%", "1.5 to 2.5 percent"),
    ("en", "-5% - -1%", "minus 5 percent to minus 1 percent"),
    ("en", "5% -10%", "5 percent -10 percent"),
    ("en", "5% — 10% off", "5 percent to 10 percent off"),
    ("en", "5%-10", "5 percent-10"),
    ("en", "5€-10€", "5 euros to 10 euros"),
    ("en", "100 $-200 $", "100 dollars to 200 dollars"),
    ("en", "$5-$10", "5 dollars to 10 dollars"),
    ("en", "$5-10", "5 to 10 dollars"),
    ("en", "10,000-15,000 AED", "10,000 to 15,000 UAE dirhams"),
    ("en", "$1-2m", "1 to 2 million dollars"),
    ("en", "€1.2m–€1.5m", "1.2 million euros to 1.5 million euros"),
    ("en", "$99-3 months", "99 dollars-3 months"),
    ("en", "20°-25°C", "20° to 25 degrees Celsius"),
    ("en", "5°-10°", "5° to 10°"),
    ("en", "25°12′30″N", "25°12′30″N"),
    ("en", "0–100 km/h", "0 to 100 kilometers per hour"),
    ("en", "10kg-15kg", "10 kilograms to 15 kilograms"),
    ("en", "5 kg - 10 cm", "5 kilograms - 10 centimeters"),
    ("en", "Plan 3 - 10% off", "Plan 3 - 10 percent off"),
    ("en", "$100 - $20 fee", "100 dollars - 20 dollars fee"),
    ("en", "20% - 5% = 15%", "20 percent - 5 percent = 15 percent"),
    ("en", "10-5%", "10-5 percent"),
    ("en", "$900k-$1.2m", "900 thousand dollars to 1.2 million dollars"),
    ("en", "22:00-06:00", "22:00 to 06:00"),
    ("en", "Boeing 747-400", "Boeing 747-400"),
    ("en", "won 3-1", "won 3-1"),
    ("en", "code 12-34", "code 1 2, 3 4"),
    ("en", "Your code is 123-456.", "Your code is 1 2 3, 4 5 6."),
    ("ar", "رمز التحقق ١٢٣-٤٥٦", "رمز التحقق ١ ٢ ٣, ٤ ٥ ٦"),
    ("zh", "验证码是123-456", "验证码是1 2 3, 4 5 6"),
    ("en", "Call back in 5-7 days", "Call back in 5 to 7 days"),
    ("en", "Step 2 - 10 minutes", "Step 2 - 10 minutes"),
    ("en", "takes 5 - 7 days", "takes 5 to 7 days"),
    ("en", "5′-6′", "5′-6′"),
    ("en", "10:00-12:00", "10:00 to 12:00"),
    ("en", "03.05.2026-05.05.2026", "3 May 2026 to 5 May 2026"),
    ("de", "5,5%-10,5%", "5,5 Prozent bis 10,5 Prozent"),
    ("de", "5-10 €", "5 bis 10 Euro"),
    ("ar", "٥٪-١٠٪", "٥ بالمئة إلى ١٠ بالمئة"),
    ("ar", "٥٠ د.إ.\u200f-١٠٠ د.إ.\u200f", "٥٠ درهم إماراتي إلى ١٠٠ درهم إماراتي"),
    ("hi", "५%-१०%", "५ प्रतिशत से १० प्रतिशत"),
    ("zh", "5%-10%", "百分之5 到 百分之10"),
    ("zh", "５％～１０％", "百分之５ 到 百分之１０"),
    ("en", "5\u201110%", "5 to 10 percent"),
    ("en", "PPR\u20119087", "P P R, 9 0 8 7"),
    ("en", "\u200e$5\u200e-\u200e$10", "\u200e5 dollars to 10 dollars"),
    ("de", "5-10%ige Lösung", "5-10%ige Lösung"),
    ("zh", "１０－１５％", "百分之１０ 到 １５"),
    ("zh", "5℃-10℃", "5摄氏度 到 10摄氏度"),
    ("zh", "100元-200元", "100元-200元"),
    ("zh", "5万元-10万元", "5万元-10万元"),
    ("zh", "气温-5℃", "气温负 5摄氏度"),
]

AMOUNTS = [
    ("zh", "¥100", "100 人民币"),
    ("zh-CN", "￥1,000.50", "1,000.50 人民币"),
    ("zh-HK", "¥500", "¥500"),
    ("ja", "¥100", "100 円"),
    ("ja", "¥5万", "5万 円"),
    ("en", "¥5-¥10", "¥5 to ¥10"),
    ("en-JP", "¥100", "100 Japanese yen"),
    ("en-CN", "¥100", "100 Chinese yuan"),
    ("es-MX", "$500", "500 pesos mexicanos"),
    ("es-AR", "$1.250,50", "1.250,50 pesos argentinos"),
    ("es-MX", "US$500", "500 dólares estadounidenses"),
    ("es-MX", "$5 millones", "5 millones de pesos mexicanos"),
    ("es-MX", "$5 millones de pesos", "$5 millones de pesos"),
    ("es-US", "$500", "500 dólares"),
    ("es", "$500", "$500"),
    ("zh", "$500", "500 美元"),
    ("zh-HK", "$500", "500 港元"),
    ("zh-TW", "$500", "500 新台币"),
    ("en", "$1", "1 dollar"),
    ("en", "$5k", "5 thousand dollars"),
    ("en", "$1.5M", "1.5 million dollars"),
    ("en", "£2bn", "2 billion British pounds"),
    ("en", "$5 million", "5 million dollars"),
    ("en", "$5 million dollars", "5 million dollars"),
    ("en", "AED 5M", "5 million UAE dirhams"),
    ("en", "10k-15k AED", "10 thousand to 15 thousand UAE dirhams"),
    ("en", "₹5 lakh", "5 lakh Indian rupees"),
    ("en", "₹5cr", "5 crore Indian rupees"),
    ("en", "US$5", "5 US dollars"),
    ("en", "HK$10", "10 Hong Kong dollars"),
    ("en", "A$1", "1 Australian dollar"),
    ("en", "C$10", "10 Canadian dollars"),
    ("en", "S$10", "10 Singapore dollars"),
    ("en", "NZ$10k", "10 thousand New Zealand dollars"),
    ("en", "R$50", "50 Brazilian reals"),
    ("en", "XY$50", "XY$50"),
    ("en", "5 US$", "5 US dollars"),
    ("en", "$5 USD", "5 US dollars"),
    ("en", "USD $5", "5 US dollars"),
    ("en", "$-5", "minus 5 dollars"),
    ("en", "$5each", "5 dollars each"),
    ("en", "AED 1 250", "1 250 UAE dirhams"),
    ("en", "3 $500 cards", "3, 500 dollars cards"),
    ("en", "In 2026 $500", "In 2026, 500 dollars"),
    ("en", "£5m-10", "£5m-10"),
    ("fr", "25 000 euros.", "25 000 euros."),
    ("en", "12500 dirhams", "12500 dirhams"),
    ("en", "12500 UAE dirhams", "12500 U A E dirhams"),
    ("en", "48213097 won it", "4 8 2 1, 3 0 9 7 won it"),
    ("en", "12500 usable", "1 2 5, 0 0 usable"),
    ("ar", "25000 درهم", "25000 درهم"),
    ("hi", "25000 रुपए", "25000 रुपए"),
    ("zh", "25000元", "25000元"),
    ("zh", "25000人民币", "25000人民币"),
    ("zh", "48213097号", "4 8 2 1, 3 0 9 7号"),
    ("fr", "5€50", "5 euros 50"),
    ("en", "3$500", "3$500"),
    ("en", "$5 M", "$5 M"),
    ("en", "a $3 T-shirt", "a 3 dollars T-shirt"),
    ("de", "$5B", "$5B"),
    ("de", "5 Mio. €", "5 Millionen Euro"),
    ("de", "1 Mrd. €", "1 Milliarde Euro"),
    ("de", "€5k", "5 Tausend Euro"),
    ("es", "5 M€", "5 millones de euros"),
    ("es", "5 k€", "5 mil euros"),
    ("es", "1.000 €", "1.000 euros"),
    ("fr", "1,5 M€", "1,5 million d'euros"),
    ("fr", "5 Md$", "5 milliards de dollars"),
    ("fr", "$1 250", "1 250 dollars"),
    ("fr", "1 250 000 €", "1 250 000 euros"),
    ("ar", "$5k", "5 آلاف دولار"),
    ("ar", "$50M", "50 مليون دولار"),
    ("ar", "$5 مليون", "5 ملايين دولار"),
    ("hi", "₹5L", "5 लाख भारतीय रुपए"),
    ("hi", "$5M", "5 मिलियन डॉलर"),
    ("zh", "$5k", "5千 美元"),
    ("zh", "￥5亿", "5亿 人民币"),
    ("zh", "$5bn", "$5bn"),
    ("ko", "₩5억", "5억 대한민국 원"),
]

TIMES = [
    ("en", "9AM-5PM", "9 AM to 5 PM"),
    ("en", "10PM", "10 PM"),
    ("en", "at 9AM.", "at 9 AM."),
    ("en", "9-5PM", "9 to 5 PM"),
    ("en", "9:30am-5:30pm", "9:30 am to 5:30 pm"),
    ("en", "9 a.m.-5 p.m.", "9 a.m. to 5 p.m."),
    ("en", "seat 13PM", "seat 1 3, P M"),
    ("zh", "9AM-5PM", "9 AM 到 5 PM"),
]

DATES = [
    ("en", "1/2/2026", "1/2/2026"),
    ("en", "1/1/2026", "1 January 2026"),
    ("en", "31/12/2026", "31 December 2026"),
    ("en-US", "1/2/2026", "January 2, 2026"),
    ("en-PH", "1/2/2026", "2 January 2026"),
    ("en-CA", "1/2/2026", "1/2/2026"),
    ("en-AE", "1/2/2026", "1 February 2026"),
    ("es-US", "1/2/2026", "1/2/2026"),
    ("ar", "١/٢/٢٠٢٦", "1 فبراير 2026"),
    ("zh", "1/2/2026", "1/2/2026"),
    ("zh", "2026/5/3", "2026年5月3日"),
    ("es", "03-05-2026", "3 de mayo de 2026"),
    ("en", "10-11-5678", "1 0, 1 1, 5 6 7 8"),
    ("en", "2026-05", "2026-05"),
    ("en", "2026-05-03T10:00", "3 May 2026, 10:00"),
]

CODES = [
    (
        "en",
        "IBAN DE89 3704 0044 0532 0130 00",
        "IBAN D E 8 9, 3 7 0 4, 0 0 4 4, 0 5 3 2, 0 1 3 0, 0 0",
    ),
    ("en", "AB1234567", "A B, 1 2 3, 4 5 6 7"),
    ("en", "AB12 3704 0044", "A B, 1 2, 3 7 0 4, 0 0 4 4"),
    ("en", "v2.10", "v2.10"),
    ("en", "1/2 cup", "1/2 cup"),
    ("en", "21st", "21st"),
    ("en", "1 000 kg", "1 000 kilograms"),
    ("fr", "-12 500 km", "moins 12 500 kilomètres"),
    ("en", "Room 12 50 AED", "Room 12, 50 UAE dirhams"),
]

CASES = [*RANGES, *AMOUNTS, *TIMES, *DATES, *CODES]


@pytest.mark.parametrize(("language", "written", "spoken"), CASES)
def test_a_fact_is_spoken_as_it_was_meant(language, written, spoken):
    assert format_text(written, language) == spoken


@pytest.mark.parametrize(("language", "written", "spoken"), CASES)
def test_a_fact_arriving_one_character_at_a_time_is_spoken_the_same(language, written, spoken):
    formatter = SpeechFormatter(language)
    assert "".join(map(formatter.feed, written)) + formatter.flush() == spoken


@pytest.mark.parametrize("language", ["multi", "auto", "xx", ""])
def test_a_language_that_nobody_knows_is_read_in_english(language):
    assert format_text("5 kg for €5 by 2026-05-03", language) == (
        "5 kilograms for 5 euros by 3 May 2026"
    )


def test_the_region_counts_however_it_is_written():
    assert format_text("1/2/2026", "en", region="us") == "January 2, 2026"


def test_a_dash_between_plain_words_holds_nothing_back():
    formatter = SpeechFormatter("en")
    assert formatter.feed("Here is what we can do — let me") == "Here is what we can do — "
