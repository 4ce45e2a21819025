"""Bytes become text whatever encoding they are in, and bytes that are no text are refused."""

from __future__ import annotations

import codecs
import random
import struct

import pytest

from knowledge.ingestion.errors import BinaryContent, UnknownEncoding
from knowledge.ingestion.readers.encodings import decode

ENGLISH = "Returns are free within 30 days – keep the “original” receipt.\nCafé, naïve, £20.\n"
GERMAN = "Öffnungszeiten: täglich außer sonntags. Für Rückfragen wählen Sie bitte die Durchwahl."
SPANISH = "¿Cómo cambio mi contraseña? El próximo año habrá más opciones según el país."
CHINESE = "退货政策：商品签收后三十天内可以免费退货，请保留原始发票。\n营业时间为每天九点到十八点。"
JAPANESE = (
    "返品は商品到着後30日以内に受け付けます。\nパスワードを忘れた場合はリセットしてください。"
)
ARABIC = "يمكنك إرجاع المنتج خلال ثلاثين يوما من تاريخ الاستلام.\nساعات العمل من التاسعة صباحا."
RUSSIAN = "Вернуть товар можно в течение тридцати дней.\nЧасы работы: с девяти до шести."
KOREAN = "상품을 받은 후 30일 이내에 반품할 수 있습니다.\n영업시간은 오전 9시부터입니다."
HINDI = "आप तीस दिनों के भीतर सामान लौटा सकते हैं।\nकार्यालय सुबह नौ बजे खुलता है।"
ALL = {
    "english": ENGLISH, "german": GERMAN, "spanish": SPANISH, "chinese": CHINESE,
    "japanese": JAPANESE, "arabic": ARABIC, "russian": RUSSIAN, "korean": KOREAN, "hindi": HINDI,
}  # fmt: skip


@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (b"", "utf-16-le"),
        (b"", "utf-16-be"),
        (b"", "utf-32-le"),
    ],
    ids=[
        "utf8",
        "utf8-bom",
        "16le-bom",
        "16be-bom",
        "32le-bom",
        "32be-bom",
        "16le",
        "16be",
        "32le",
    ],
)
def test_unicode_is_read_with_and_without_a_mark(text, mark, encoding):
    assert decode(mark + text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "gbk"),
        (CHINESE, "gb18030"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (ENGLISH, "cp1252"),
        (GERMAN, "cp1252"),
        (SPANISH, "cp1252"),
        (ARABIC, "cp1256"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (KOREAN, "cp949"),
    ],
)
def test_an_old_encoding_is_recognised(text, encoding):
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("退货政策", "gbk"),
        ("営業時間のお知らせ", "shift_jis"),
        ("café", "cp1252"),
        ("ساعات العمل", "cp1256"),
        ("Größe: über 3 m²", "cp1252"),
    ],
)
def test_a_few_words_are_enough(text, encoding):
    assert decode(text.encode(encoding)) == text


def test_a_declared_encoding_is_believed_when_it_fits():
    assert (
        decode("naïve".encode("cp1250", "replace") + "ź".encode("cp1250"), declared="cp1250")[-1]
        == "ź"
    )


def test_a_declared_encoding_that_does_not_exist_is_ignored():
    assert decode(GERMAN.encode("cp1252"), declared="klingon-1") == GERMAN


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"%PDF-1.7\n1 0 obj",
        b"PK\x03\x04" + bytes(50),
        b"\x7fELF\x02\x01\x01" + bytes(50),
        bytes(range(256)) * 20,
        struct.pack("<500i", *range(1_000_000, 1_000_500)),
        bytes(1_000),
        b"text and then\x00\x00\x00\x01\x02\x03\x04\x05" * 20,
        b"\x01\x02\x03\x04\x05\x06\x07\x08 words" * 20,
    ],
    ids=["png", "pdf", "zip", "elf", "all", "numbers", "zeros", "mixed", "controls"],
)
def test_what_is_no_text_is_refused(data):
    with pytest.raises((BinaryContent, UnknownEncoding)):
        decode(data)


def test_noise_is_refused():
    noise = random.Random(7)
    for _ in range(200):
        with pytest.raises((BinaryContent, UnknownEncoding)):
            decode(noise.randbytes(noise.randrange(200, 3_000)))


def test_text_that_says_it_is_unicode_and_is_damaged_is_refused():
    with pytest.raises(UnknownEncoding, match="says it is UTF-8"):
        decode(codecs.BOM_UTF8 + b"abc\xff\xfe")


ONE_SIGN = "We can’t take it back. A new card costs £5.\n"


@pytest.mark.parametrize("text", [ARABIC, ENGLISH, ONE_SIGN, GERMAN, CHINESE, HINDI])
def test_one_bad_byte_in_utf_8_does_not_make_it_another_encoding(text):
    data = text.encode()
    for place in (0, data.index(b" "), len(data)) if b" " in data else (0, len(data)):
        with pytest.raises(UnknownEncoding, match="damaged UTF-8"):
            decode(data[:place] + b"\xff" + data[place:])


@pytest.mark.parametrize("text", [ARABIC * 20, ENGLISH + "Café", "Ça coûte £5 à Málaga, 10 €"])
def test_utf_8_that_is_cut_inside_a_character_is_refused(text):
    with pytest.raises(UnknownEncoding, match="damaged UTF-8"):
        decode(text.rstrip().rstrip(".").encode()[:-1])


def test_damaged_utf_8_is_refused_whatever_it_says_it_is():
    with pytest.raises(UnknownEncoding, match="damaged UTF-8"):
        decode(ARABIC.encode()[:-1] + b"\xff", declared="cp1256")


def test_an_old_encoding_with_a_word_of_utf_8_in_it_is_still_read():
    text = decode(GERMAN.encode("cp1252") + " Straße".encode())
    assert text.startswith(GERMAN)
