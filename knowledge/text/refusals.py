"""Tells a text that only says what somebody does not want: nearness of words cannot."""

from __future__ import annotations

import re
from typing import Final

from knowledge.text.normalising import match_key, normalise

# A refusal begins with one of these ...
BEGINNINGS: Final = {
    "en": """i do not want|i don't want|i dont want|i do not need|i don't need|i dont need
        i did not want|i didn't want|i did not ask for|i didn't ask for|i would not like
        i wouldn't like|i no longer want|i no longer need|i never wanted|i am not asking for
        i'm not asking for|i am not looking for|i'm not looking for|i am not interested in
        i'm not interested in|we do not want|we don't want|we don't need|please do not|please don't
        i do not wish|i don't wish|do not want|don't want|not interested in""",
    "es": "no quiero|ya no quiero|yo no quiero|no necesito|no deseo|no quisiera|no me interesa",
    "fr": "je ne veux pas|je ne veux plus|je veux pas|je ne souhaite pas|je n'ai pas besoin",
    "pt": "não quero|eu não quero|não preciso|não desejo",
    "it": "non voglio|io non voglio|non ho bisogno|non mi serve|non desidero",
    "ru": "я не хочу|не хочу|мне не нужно|мне не нужен|мне не нужна|мне не надо|не надо",
    "ar": """لا أريد|ما أريد|أنا لا أريد|لا أرغب|لا أحتاج|ما أبي|ما أبغى|ما بدي|مش عايز|مش عاوز|لم أعد أريد
        لست أريد""",
    "zh": "我不想|不想|我不要|不要|我不需要|不需要|我不用|我没想|我並不想|我并不想",
    "id": "saya tidak mau|saya tidak ingin|saya tidak perlu|tidak mau|tidak ingin|tidak perlu",
    "fa": "من نمی‌خواهم|نمی‌خواهم",
}
# ... or begins and ends so, with what is refused between ...
AROUND: Final = {
    "de": (
        "ich will|ich möchte|ich brauche|ich wünsche|ich wollte",
        "kein|keine|keinen|keinerlei|nicht|nichts",
    ),
    "nl": ("ik wil|ik hoef|ik heb", "geen|niet|niets"),
    "hi": ("मुझे|मैं|हमें|हम", "नहीं चाहिए|नहीं चाहिये|नहीं चाहता|नहीं चाहती|नहीं चाहते"),
    "ur": ("مجھے|میں", "نہیں چاہیے|نہیں چاہتا|نہیں چاہتی"),
}
# ... or ends so.
ENDINGS: Final = {
    "tr": "istemiyorum|gerek yok|ihtiyacım yok",
    "ja": "たくない|たくありません|いりません|要りません|不要です",
    "ko": "원하지 않아요|원하지 않습니다|필요 없어요|필요 없습니다|싫어요",
}
POLITE: Final = """no|not|yes|ok|okay|well|so|sorry|please|thanks|thank you|hi|hello|look|listen|um|uh
    nein|danke|bitte|gracias|por favor|hola|non|merci|لا|شكرا|من فضلك|谢谢|不|好的|नहीं|धन्यवाद"""
_TURNS: Final = "but|pero|aber|sondern|mais|mas|ma|но|لكن|بل|但是|但|而是|लेकिन|ama|maar|tapi"
_SPACELESS: Final = re.compile("[一-鿿]")


def _phrases(written: str) -> tuple[str, ...]:
    told = (normalise(phrase) for line in written.split("\n") for phrase in line.split("|"))
    return tuple(sorted(filter(None, told), key=len, reverse=True))


def _word(phrase: str) -> str:
    return re.escape(phrase) if _SPACELESS.search(phrase) else rf"(?<!\S){re.escape(phrase)}(?!\S)"


def _any(phrases: tuple[str, ...]) -> str:
    return "|".join(map(_word, phrases))


_BEGINS = re.compile(f"(?:{_any(_phrases('|'.join(BEGINNINGS.values())))})")
_AROUND = tuple(
    re.compile(f"(?:{_any(_phrases(first))}).*(?:{_any(_phrases(last))})")
    for first, last in AROUND.values()
)
_ENDS = re.compile(f"(?:{'|'.join(map(re.escape, _phrases('|'.join(ENDINGS.values()))))})$")
_CLAUSES = re.compile(rf"[,.;:!?،؛؟。，；！？।]+|{_any(_phrases(_TURNS))}")
_COURTESY = re.compile(rf"^(?:(?:{_any(_phrases(POLITE))})\s*)+")


def is_refusal(text: str) -> bool:
    """Whether all that a text says is that something is not wanted.

    "I don't want a refund" is one; "I don't want a refund, I want a new card" is not.
    """
    clauses = [_bare(clause) for clause in _CLAUSES.split(match_key(text)) if clause]
    said = [clause for clause in clauses if clause]
    return bool(said) and all(map(_refuses, said))


def _bare(clause: str) -> str:
    return (
        _COURTESY.sub("", clause.strip()).strip()
        if not _refuses(clause.strip())
        else clause.strip()
    )


def _refuses(clause: str) -> bool:
    starts = _BEGINS.match(clause) or any(pattern.match(clause) for pattern in _AROUND)
    return bool(starts or _ENDS.search(clause))
