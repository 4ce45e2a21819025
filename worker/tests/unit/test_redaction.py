import pytest

from earmark_worker.redaction import redact


@pytest.mark.parametrize(
    ("said", "leaves"),
    [
        ("my number is 0501234567 ok", "my number is [10-digit structured value] ok"),
        ("one two three four", "[4-digit structured value]"),
        ("double five triple nine oh", "[6-digit structured value]"),
        ("twenty three forty five", "[4-digit structured value]"),
        ("five five dash one two", "[4-digit structured value]"),
        ("１２３４", "[4-digit structured value]"),
        ("رقمي ٠١٢٣٤٥", "رقمي [6-digit structured value]"),
        ("मेरा नंबर १२३४", "मेरा नंबर [4-digit structured value]"),
        ("واحد اثنين ثلاثة أربعة", "[4-digit structured value]"),
        ("خمسة وعشرون ستة وثلاثين", "[4-digit structured value]"),
        ("zweitausenddreihundertfünfundvierzig", "[4-digit structured value]"),
        ("null eins sieben sechs", "[4-digit structured value]"),
        ("quatre-vingt-dix-sept vingt-trois", "[4-digit structured value]"),
        ("treinta y cuatro cincuenta y seis", "[4-digit structured value]"),
        ("पाँच छह सात आठ", "[4-digit structured value]"),
        ("一三八零零", "[5-digit structured value]"),
        ("我的号码是幺三八零", "我的号码是[4-digit structured value]"),
        ("five dos three cuatro", "[4-digit structured value]"),
        ("4, 7, 1, 9", "[4-digit structured value]"),
        ("12-34 56", "[6-digit structured value]"),
        ("(050) 123", "([6-digit structured value]"),
    ],
)
def test_a_structured_value_leaves_as_its_digit_count(said, leaves):
    assert redact(said).text == leaves


@pytest.mark.parametrize(
    "said",
    [
        "within 5 to 7 working days, 30 dirhams",
        "twenty five cents",
        "one of the two",
        "my PPR-9087 is broken",
        "AB12345",
        "千万不要",
        "我想一下",
        "اثنين أو ثلاثة",
    ],
)
def test_small_numbers_and_product_codes_stay(said):
    assert redact(said) == redact(said)
    assert redact(said).text == said


def test_a_code_followed_by_more_digits_is_no_code():
    assert redact("AB12345 6 7 8").text == "AB[8-digit structured value]"


def test_a_declared_pattern_keeps_its_codes_readable():
    assert redact("model 900 100", code_patterns=["Model ### ###"]).text == "model 900 100"


@pytest.mark.parametrize("shape", ["######", "(", "A" * 50 + "#", "AAA", ""])
def test_an_unsafe_declared_shape_protects_nothing(shape):
    assert redact("123456", code_patterns=[shape]).text == "[6-digit structured value]"


@pytest.mark.parametrize("said", ["PPR-9087 2 units", "AB-12-34", "two PPR9087"])
def test_a_code_stays_beside_a_small_number(said):
    assert redact(said).text == said


@pytest.mark.parametrize(
    ("said", "leaves"),
    [
        ("PPR-9087 123", "PPR-[7-digit structured value]"),
        ("AB123456", "AB[6-digit structured value]"),
        ("A1234", "A[4-digit structured value]"),
        ("1234ab", "[4-digit structured value]ab"),
        ("رقم1234", "رقم[4-digit structured value]"),
        ("⑫ ⒊ ²", "[4-digit structured value]"),
    ],
)
def test_what_only_looks_like_a_code_is_redacted(said, leaves):
    assert redact(said).text == leaves


def test_the_lengths_are_told_in_order():
    assert redact("1234 is not 123456").lengths == (4, 6)


def test_a_very_long_number_does_not_leak_through_its_own_marker():
    assert redact("7" * 5000).text == "[999-digit structured value]"
