"""Thousands, millions and more after a number: how they are written, and the word for them.

Source: Unicode CLDR, long compact number patterns (common/main/*.xml) for the words and their
plurals; Duden for "Mio.", "Mrd." and "Tsd."; Le Petit Robert for "Md". An abbreviation that means
different numbers in a language ("B" in German and French) is missing there, so the text stays.
"""

from dataclasses import dataclass

from earmark_worker.speech.names import plural_category

# Said as they are written, in every language.
CJK = frozenset("千万萬亿億兆천만억조")
LETTERS = frozenset("kKmMbBtTL")


@dataclass(frozen=True)
class Scale:
    """The forms of one word: `other`, and those that differ for one and for a few."""

    other: str
    one: str = ""
    few: str = ""
    takes_of: bool = False

    def word(self, category: str) -> str:
        """The form for a plural category."""
        return {"one": self.one, "few": self.few}.get(category) or self.other


def _scales(*rows: tuple[str, Scale]) -> dict[str, Scale]:
    return {form: scale for forms, scale in rows for form in forms.split()}


_BY_LANGUAGE: dict[str, dict[str, Scale]] = {
    "en": _scales(
        ("k K thousand", Scale("thousand")),
        ("m M mn mln million", Scale("million")),
        ("b B bn billion", Scale("billion")),
        ("tn T trillion", Scale("trillion")),
        ("L lakh lakhs", Scale("lakh")),
        ("cr Cr crore crores", Scale("crore")),
    ),
    "ar": _scales(
        ("k K ألف", Scale("ألف", few="آلاف")),
        ("آلاف", Scale("آلاف")),
        ("m M mn مليون", Scale("مليون", few="ملايين")),
        ("ملايين", Scale("ملايين")),
        ("b B bn مليار", Scale("مليار", few="مليارات")),
        ("مليارات", Scale("مليارات")),
    ),
    "es": _scales(
        ("k K mil", Scale("mil")),
        ("M mn millón millones", Scale("millones", one="millón", takes_of=True)),
        ("bn", Scale("mil millones", takes_of=True)),
    ),
    "de": _scales(
        ("k K Tsd. Tsd Tausend", Scale("Tausend")),
        ("M mn Mio. Mio Million Millionen", Scale("Millionen", one="Million")),
        ("bn Mrd. Mrd Milliarde Milliarden", Scale("Milliarden", one="Milliarde")),
    ),
    "fr": _scales(
        ("k K mille", Scale("mille")),
        ("M mn million millions", Scale("millions", one="million", takes_of=True)),
        ("bn Md Mds Mrd milliard milliards", Scale("milliards", one="milliard", takes_of=True)),
    ),
    "hi": _scales(
        ("k K ह\u095bार हज\u093cार हजार", Scale("हज\u093cार")),
        ("L लाख", Scale("लाख")),
        ("cr Cr करो\u095c करोड\u093c", Scale("करोड\u093c")),
        ("m M mn", Scale("मिलियन")),
        ("b B bn अरब", Scale("अरब")),
    ),
    "zh": _scales(("k K", Scale("千")), ("m M mn", Scale("百万"))),
}

WRITTEN = frozenset(
    form for scales in _BY_LANGUAGE.values() for form in scales if form not in LETTERS
)


def scale_of(written: str, language: str) -> Scale | None:
    """The scale that an abbreviation or a word stands for in a language; None when it is open."""
    if written in CJK:
        return Scale(written)
    return _BY_LANGUAGE.get(language, {}).get(written)


def scaled(number: str, scale: Scale, language: str) -> str:
    """The number with its scale: "5 million", "1,5 million", "5百万"."""
    word = scale.word(plural_category(number, language))
    return f"{number}{word}" if language in ("zh", "ja", "ko") else f"{number} {word}"
