"""Prepares what a recogniser heard for the embedder, which was trained on written questions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from knowledge.text.languages import guess_language, language_code
from knowledge.text.normalising import normalise

CLOSED = re.compile(r"[.?!…؟۔。？！։।:;]['\"”’»)\]」』]*$")
MARKED = re.compile(r"[.?!…؟۔。？！։।,;:،、]")
FILLERS = {
    "en": "um uh umm uhm uhh erm hmm hm mm mhm",
    "es": "eh em ehh mmm",
    "fr": "euh heu hum bah",
    "de": "äh ähm öhm hm",
    "pt": "hum ahn eh",
    "it": "ehm mmm eh",
    "nl": "eh uh uhm ehm",
    "ru": "эээ ээ эм ммм",
    "ar": "امم اممم ااه",
    "zh": "嗯 呃",
    "ja": "えーと えっと あのー",
}
# One of these among the first words, or at the very end, makes an unpunctuated text a question.
ASKING = {
    "en": "how what what's whats when where who whose which why",
    "es": """qué que cómo como cuándo cuando dónde donde cuál cual cuáles cuánto cuanto cuánta cuántos
        quién quien""",
    "fr": "comment quand où combien quel quelle quels quelles qui quoi pourquoi est-ce qu'est-ce",
    "de": "wie was wann wo wer warum wieso welche welcher welches wieviel wohin woher",
    "pt": "como qual quais quando onde quanto quanta quantos quem",
    "it": "come cosa quando dove quanto quanta quanti quale quali chi perché",
    "nl": "hoe wat wanneer waar wie waarom welke welk hoeveel",
    "tr": "nasıl ne neden nerede nereye kim kaç hangi mi mı mu mü",
    "id": "apa apakah bagaimana kapan mengapa kenapa siapa berapa dimana mana bisakah",
    "pl": "jak co czy kiedy gdzie ile kto dlaczego jaki jaka jakie który która",
    "sv": "hur vad när var vem varför vilken vilket vilka",
    "ru": "как что где когда почему сколько кто какой какая какие какое можно ли куда зачем",
    "uk": "як що де коли чому скільки хто який яка які чи можна",
    "ar": "هل كيف ما ماذا متى أين لماذا كم أي ليش وين شو ايش إيش",
    "fa": "آیا چه چرا چگونه چطور کجا کی کدام چند",
    "ur": "کیا کیسے کب کہاں کیوں کون کتنا کتنے کتنی",
    "hi": "क्या कैसे कब कहाँ कहां क्यों कौन कितना कितने कितनी किस",
}
# These ask only where a question begins: "do you have", but not "what you do".
OPENING = {
    "en": """can could do does did is are am was were will would should may has have isn't don't
        doesn't can't""",
    "es": "puedo puede pueden hay tengo es está",
    "fr": "puis-je peut-on peux-tu pouvez-vous y",
    "de": "kann können darf muss ist sind gibt hat habe",
    "pt": "posso pode tem há é",
    "it": "posso può c'è è",
    "nl": "kan kun mag moet is zijn heeft",
    "sv": "kan får är har",
}
LEADS = frozenset(
    {"so", "and", "but", "ok", "okay", "well", "hi", "hello", "please", "hola", "y", "pero"}
    | {"und", "aber", "also", "alors", "et", "e"}
)
ASKING_ANYWHERE = {
    "zh": re.compile("[吗嘛呢谁几哪]|什么|怎么|怎样|如何|多少|是否|能否|为何"),
    "ja": re.compile("か$|何|なに|どう|どこ|どの|いつ|だれ|誰|なぜ|いくら"),
    "ko": re.compile("까$|나요$|무엇|뭐|어떻게|언제|어디|왜|누구|얼마|몇"),
    "th": re.compile("ไหม|อะไร|อย่างไร|ยังไง|เมื่อไร|เมื่อไหร่|ที่ไหน|ทำไม|เท่าไร|เท่าไหร่"),
}
SIGN = {"ar": "؟", "fa": "؟", "ur": "؟", "zh": "？", "ja": "？"}
# "so how do I", "hello can I": the asking word need not be the very first.
FIRST_WORDS = 4


def _sets(lists: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    return {language: frozenset(normalise(words).split()) for language, words in lists.items()}


_ASKING, _OPENING, _FILLERS = _sets(ASKING), _sets(OPENING), _sets(FILLERS)
_NONE: frozenset[str] = frozenset()


def prepare_for_embedding(query: str, language: str | None = None) -> str:
    """Return the query as it would be written: fillers out, a capital first, "?" after a question.

    Shape: text that already ends in punctuation is only trimmed.
    """
    text = " ".join(query.split())
    if not text or CLOSED.search(text):
        return text
    spoken = language_code(language) or guess_language(text) or "en"
    text = text if MARKED.search(text) else _without_fillers(text, spoken)
    sign = SIGN.get(spoken, "?") if _asks(text, spoken) else ""
    first = text[0].upper()
    return (first if len(first) == 1 else text[0]) + text[1:] + sign


def _without_fillers(text: str, language: str) -> str:
    fillers = _FILLERS.get(language, _NONE)
    return " ".join(word for word in text.split() if normalise(word) not in fillers) or text


def _asks(text: str, language: str) -> bool:
    anywhere = ASKING_ANYWHERE.get(language)
    if anywhere:
        return anywhere.search(text) is not None
    words = normalise(text).split()
    begun = next((word for word in words if word not in LEADS), "")
    asking = _ASKING.get(language, _NONE)
    return begun in _OPENING.get(language, _NONE) or not asking.isdisjoint(
        (*words[:FIRST_WORDS], *words[-1:])
    )
