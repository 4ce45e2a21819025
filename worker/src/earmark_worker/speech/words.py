"""The words that stand for signs when a text is read aloud, in seven languages.

Source: names of currencies, units and months come from the Unicode CLDR through Babel. The signs
of addresses follow the CLDR annotations (common/annotations/*.xml: full stop, at sign, solidus,
hyphen, underscore, plus, minus). Chinese reads a percentage with 百分之 before the number
(GB/T 15835, use of numerals). Ranges follow the CLDR range pattern of each language, spoken.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SpeechWords:
    """What one language says for signs, and which words announce a number read digit by digit."""

    dot: str
    at: str
    slash: str
    dash: str
    underscore: str
    plus: str
    minus: str
    to: str
    percent: str
    dollar: str
    dollars: str
    hints: frozenset[str]
    negations: frozenset[str]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPEECH_WORDS: dict[str, SpeechWords] = {
    "en": SpeechWords(
        dot="dot",
        at="at",
        slash="slash",
        dash="dash",
        underscore="underscore",
        plus="plus",
        minus="minus",
        to="to",
        percent="{} percent",
        dollar="dollar",
        dollars="dollars",
        hints=_set("code pin number extension ext call dial digits ending"),
        negations=_set("not no never none nor without cannot can't don't won't isn't"),
    ),
    "ar": SpeechWords(
        dot="نقطة",
        at="آت",
        slash="شرطة مائلة",
        dash="شرطة",
        underscore="شرطة سفلية",
        plus="زائد",
        minus="ناقص",
        to="إلى",
        percent="{} بالمئة",
        dollar="دولار",
        dollars="دولار",
        hints=_set("رمز الرمز رقم الرقم كود الكود اتصل تحويلة برقم"),
        negations=_set("لا لم لن ليس ليست غير بدون ما دون"),
    ),
    "es": SpeechWords(
        dot="punto",
        at="arroba",
        slash="barra",
        dash="guion",
        underscore="guion bajo",
        plus="más",
        minus="menos",
        to="a",
        percent="{} por ciento",
        dollar="dólar",
        dollars="dólares",
        hints=_set("código pin número extensión llame marque"),
        negations=_set("no nunca sin ni ningún ninguna nada tampoco"),
    ),
    "de": SpeechWords(
        dot="Punkt",
        at="ät",
        slash="Schrägstrich",
        dash="Bindestrich",
        underscore="Unterstrich",
        plus="plus",
        minus="minus",
        to="bis",
        percent="{} Prozent",
        dollar="Dollar",
        dollars="Dollar",
        hints=_set("code pin nummer durchwahl wählen bestellnummer kennzahl"),
        negations=_set("nicht kein keine keinen keiner nie niemals ohne weder nein"),
    ),
    "fr": SpeechWords(
        dot="point",
        at="arobase",
        slash="barre oblique",
        dash="tiret",
        underscore="tiret bas",
        plus="plus",
        minus="moins",
        to="à",
        percent="{} pour cent",
        dollar="dollar",
        dollars="dollars",
        hints=_set("code pin numéro poste appelez composez"),
        negations=_set("ne pas non jamais sans aucun aucune ni rien plus"),
    ),
    "hi": SpeechWords(
        dot="डॉट",
        at="ऐट",
        slash="स्लैश",
        dash="डैश",
        underscore="अंडरस्कोर",
        plus="प्लस",
        minus="माइनस",
        to="से",
        percent="{} प्रतिशत",
        dollar="डॉलर",
        dollars="डॉलर",
        hints=_set("कोड पिन नंबर एक्सटेंशन"),
        negations=_set("नहीं न ना मत बिना कभी"),
    ),
    "zh": SpeechWords(
        dot="点",
        at="艾特",
        slash="斜杠",
        dash="横杠",
        underscore="下划线",
        plus="加",
        minus="负",
        to="到",
        percent="百分之{}",
        dollar="美元",
        dollars="美元",
        hints=_set("码 号 拨 打 转"),
        negations=_set("不 没 无 未 别 非"),
    ),
}

UNITS: dict[str, str] = {
    "kg": "mass-kilogram",
    "g": "mass-gram",
    "mg": "mass-milligram",
    "lb": "mass-pound",
    "lbs": "mass-pound",
    "oz": "mass-ounce",
    "km": "length-kilometer",
    "cm": "length-centimeter",
    "mm": "length-millimeter",
    "ml": "volume-milliliter",
    "km/h": "speed-kilometer-per-hour",
    "mph": "speed-mile-per-hour",
    "°C": "temperature-celsius",
    "℃": "temperature-celsius",
    "°F": "temperature-fahrenheit",
    "KB": "digital-kilobyte",
    "MB": "digital-megabyte",
    "GB": "digital-gigabyte",
    "TB": "digital-terabyte",
    "kWh": "energy-kilowatt-hour",
    "m²": "area-square-meter",
    "min": "duration-minute",
    "hrs": "duration-hour",
}

SPOKEN_CAPITALS = _set(
    "PIN SIM GIF NASA VISA UNICEF NATO OPEC LASER RADAR ZIP WIFI NOT NO DO DONT CANNOT NEVER NONE "
    "NOR AND OR BUT IF IS IT IN ON AT TO OF BY FOR FROM WITH YOU YOUR WE OUR US MY ME HE SHE ALL ANY "
    "ARE BE CAN HAS HAD WAS WILL MUST MAY ONLY NOW NEW OLD ONE TWO SIX TEN YES OK THE THIS THAT "
    "OUT UP OFF OVER AS SO AN NI SIN NUNCA NADA UN UNA EL LA LOS LAS DE DEL POR PARA CON QUE SI SU "
    "NE PAS NON RIEN SANS JAMAIS LE LES DES ET EN AU AUX DU SUR OUI KEIN KEINE NICHT NIE OHNE NEIN "
    "DER DIE DAS UND IST IM AM ZU MIT VON AUF JA MR MRS MS DR"
)


def speech_words(language: str) -> SpeechWords:
    """The words of a language (`ar-AE` counts as `ar`); English for one that is not covered."""
    return SPEECH_WORDS.get(language.split("-")[0].split("_")[0].lower(), SPEECH_WORDS["en"])
