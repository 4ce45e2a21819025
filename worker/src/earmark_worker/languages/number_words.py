"""Number words of seven languages, as callers say them, with the value of each.

Source: the spell-out rules of the Unicode CLDR (common/rbnf/en.xml, ar.xml, es.xml, de.xml,
fr.xml, hi.xml, zh.xml), to which the forms heard on the telephone are added: English "oh",
"nought", "double" and "triple" (mytwocents.online/category/good-to-know, on telephone numbers),
Belgian and Swiss French tens (yd-8.com/lessons/french/survival-basics), colloquial Arabic
numerals, Chinese 幺 for one, and transcripts without accents.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from earmark_worker.languages.folding import fold


@dataclass(frozen=True)
class NumberWords:
    """What one language calls its numbers."""

    plain: dict[str, int]
    magnitudes: dict[str, int] = field(default_factory=dict)
    repeats: dict[str, int] = field(default_factory=dict)
    connectors: frozenset[str] = frozenset()
    units_before_tens: bool = False
    counts_in_twenties: bool = False


def _numbered(text: str, *, start: int = 0, step: int = 1) -> dict[str, int]:
    listed = text.split()
    return {
        form: start + index * step
        for index, entry in enumerate(listed)
        for form in entry.split("/")
    }


def _folded(table: dict[str, int]) -> dict[str, int]:
    return {fold(word): value for word, value in table.items()}


def _connectors(text: str) -> frozenset[str]:
    return frozenset(fold(word) for word in text.split())


_ENGLISH = NumberWords(
    plain=_folded(
        _numbered(
            "zero/oh/o/nought/naught/nil one two three four five six seven eight nine ten eleven "
            "twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
        )
        | _numbered(
            "twenty thirty forty/fourty fifty sixty seventy eighty ninety", start=20, step=10
        )
        | {"niner": 9}
    ),
    magnitudes={
        "hundred": 100,
        "thousand": 1000,
        "lakh": 10**5,
        "million": 10**6,
        "crore": 10**7,
        "billion": 10**9,
    },
    repeats={"double": 2, "triple": 3, "treble": 3, "quadruple": 4},
    connectors=_connectors("and then dash hyphen minus space dot point slash plus uh um comma"),
)

_SPANISH = NumberWords(
    plain=_folded(
        _numbered(
            "cero uno/un/una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce "
            "quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno/veintiún/veintiuna "
            "veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve"
        )
        | _numbered("treinta cuarenta cincuenta sesenta setenta ochenta noventa", start=30, step=10)
        | _numbered(
            "cien/ciento doscientos/doscientas trescientos/trescientas cuatrocientos/cuatrocientas "
            "quinientos/quinientas seiscientos/seiscientas setecientos/setecientas "
            "ochocientos/ochocientas novecientos/novecientas",
            start=100,
            step=100,
        )
    ),
    magnitudes=_folded({"mil": 1000, "millón": 10**6, "millones": 10**6}),
    repeats={"doble": 2, "triple": 3},
    connectors=_connectors("y e luego después guion guión punto coma barra más eh"),
)

_FRENCH = NumberWords(
    plain=_folded(
        _numbered(
            "zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze "
            "quinze seize"
        )
        | _numbered("vingt/vingts trente quarante cinquante soixante", start=20, step=10)
        | {"septante": 70, "huitante": 80, "octante": 80, "nonante": 90}
    ),
    magnitudes=_folded(
        {"cent": 100, "cents": 100, "mille": 1000, "million": 10**6, "millions": 10**6}
    ),
    repeats={"double": 2, "triple": 3},
    connectors=_connectors("et puis tiret point virgule barre plus euh"),
    counts_in_twenties=True,
)

_GERMAN = NumberWords(
    plain=_folded(
        _numbered(
            "null eins/ein/eine zwei/zwo drei vier fünf/fuenf sechs sieben acht neun zehn elf "
            "zwölf/zwoelf dreizehn vierzehn fünfzehn/fuenfzehn sechzehn siebzehn achtzehn neunzehn"
        )
        | _numbered(
            "zwanzig dreißig/dreissig vierzig fünfzig/fuenfzig sechzig siebzig achtzig neunzig",
            start=20,
            step=10,
        )
    ),
    magnitudes=_folded({"hundert": 100, "tausend": 1000, "million": 10**6, "millionen": 10**6}),
    repeats={"doppel": 2, "dreifach": 3},
    connectors=_connectors("und dann strich bindestrich minus punkt komma schrägstrich plus äh"),
    units_before_tens=True,
)

_ARABIC = NumberWords(
    plain=_folded(
        _numbered(
            "صفر/زيرو واحد/واحدة اثنان/اثنين/اتنين/إثنين/اثنتان ثلاثة/تلاتة/ثلاث/تلات "
            "أربعة/أربع خمسة/خمس ستة/ست سبعة/سبع ثمانية/تمانية/ثماني/ثمان تسعة/تسع عشرة/عشر"
        )
        | _numbered(
            "عشرون/عشرين ثلاثون/ثلاثين/تلاتين أربعون/أربعين خمسون/خمسين ستون/ستين "
            "سبعون/سبعين ثمانون/ثمانين/تمانين تسعون/تسعين",
            start=20,
            step=10,
        )
        | _numbered(
            "حداشر/احداشر اتناشر/اثناشر تلتاشر/تلطاشر اربعتاشر خمستاشر ستاشر سبعتاشر تمنتاشر تسعتاشر",
            start=11,
        )
        | _numbered(
            "مئة/مائة/مية مئتان/مئتين/مائتان/مائتين/ميتين ثلاثمئة/ثلاثمائة/تلتمية "
            "أربعمئة/أربعمائة/ربعمية خمسمئة/خمسمائة/خمسمية ستمئة/ستمائة/ستمية "
            "سبعمئة/سبعمائة/سبعمية ثمانمئة/ثمانمائة/تمنمية تسعمئة/تسعمائة/تسعمية",
            start=100,
            step=100,
        )
        | {"ألفان": 2000, "ألفين": 2000}
    ),
    magnitudes=_folded({"ألف": 1000, "آلاف": 1000, "مليون": 10**6, "ملايين": 10**6}),
    repeats=_folded({"دبل": 2, "تربل": 3}),
    connectors=_connectors("و ثم بعدين شرطة نقطة فاصلة زائد"),
    units_before_tens=True,
)

_HINDI = NumberWords(
    plain=_folded(
        _numbered(
            "शून्य/ज़ीरो एक दो तीन चार पाँच/पांच छह/छः/छे/छ सात आठ नौ "
            "दस ग्यारह बारह तेरह चौदह पंद्रह/पन्द्रह सोलह सत्रह अठारह/अट्ठारह उन्नीस "
            "बीस इक्कीस बाईस/बाइस तेईस/तेइस चौबीस पच्चीस छब्बीस सत्ताईस/सत्ताइस अट्ठाईस/अट्ठाइस उनतीस "
            "तीस इकतीस/इकत्तीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस "
            "चालीस इकतालीस बयालीस तैंतालीस चौवालीस/चवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास "
            "पचास इक्यावन बावन तिरपन/तिरेपन चौवन पचपन छप्पन सत्तावन अट्ठावन/अठावन उनसठ "
            "साठ इकसठ बासठ तिरसठ/तिरेसठ चौंसठ/चौसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर "
            "सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उन्यासी/उनासी "
            "अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी/अठासी नवासी "
            "नब्बे इक्यानवे/इक्यानबे बानवे/बानबे तिरानवे/तिरानबे चौरानवे/चौरानबे पंचानवे/पचानवे/पंचानबे "
            "छियानवे/छियानबे सत्तानवे/सत्तानबे अट्ठानवे/अट्ठानबे निन्यानवे/निन्यानबे"
        )
    ),
    magnitudes=_folded({"सौ": 100, "हज़ार": 1000, "लाख": 10**5, "करोड़": 10**7}),
    repeats=_folded({"डबल": 2, "ट्रिपल": 3}),
    connectors=_connectors("और फिर डैश पॉइंट बिंदु"),
)

_CHINESE = NumberWords(
    plain=_numbered("零/〇 一/幺/壹 二/两/兩/贰 三/叁 四/肆 五/伍 六/陆 七/柒 八/捌 九/玖"),
    magnitudes={"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8},
    connectors=frozenset("和杠点"),
)

NUMBER_WORDS: dict[str, NumberWords] = {
    "en": _ENGLISH,
    "ar": _ARABIC,
    "es": _SPANISH,
    "de": _GERMAN,
    "fr": _FRENCH,
    "hi": _HINDI,
    "zh": _CHINESE,
}
_MIXED_LIMIT = 20


@lru_cache(maxsize=1)
def vocabularies() -> tuple[NumberWords, ...]:
    """Every language apart, then the small numbers of all of them together (switched mid-number)."""
    small = {
        word: value
        for table in NUMBER_WORDS.values()
        for word, value in table.plain.items()
        if value < _MIXED_LIMIT
    }
    every_connector = frozenset().union(*(table.connectors for table in NUMBER_WORDS.values()))
    return (*NUMBER_WORDS.values(), NumberWords(plain=small, connectors=every_connector))
