"""One way to write the same text: for matching (`normalise`), and for keeping (`clean`)."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from knowledge.errors import UnstorableText
from knowledge.text.characters import APOSTROPHES, folding_table, storing_table

FOLDS = folding_table()
KEPT = storing_table()
# These two decompose into a space and an accent, so they must go before NFKC sees them.
EARLY = str.maketrans(dict.fromkeys(APOSTROPHES, "'"))
CONTROLS = str.maketrans(dict.fromkeys((*range(0x20), 0x7F), " "))
# A nasal written before a consonant of its own row is the same sound as the dot above.
NASALS = re.compile("ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
EDGES = re.compile(r"^[\W_]+|[\W_]+$")
MOST_PASSES = 6


def normalise(text: str) -> str:
    """Return the form under which text is compared; the same for index and query, idempotent."""
    if text.isascii():
        return _spaced(text.translate(CONTROLS).lower().replace("`", "'"))
    # Removing one character can bring two others together, so repeat until nothing changes.
    for _ in range(MOST_PASSES):
        folded = _fold(text)
        if folded == text:
            break
        text = folded
    return text


def _fold(text: str) -> str:
    compatible = unicodedata.normalize("NFKC", text.translate(EARLY))
    folded = unicodedata.normalize("NFKC", compatible.casefold()).translate(FOLDS)
    folded = folded.replace("i\u0307", "i")
    return unicodedata.normalize("NFKC", _spaced(NASALS.sub("ं", folded)))


def _spaced(text: str) -> str:
    return " ".join(text.split())


def match_key(text: str) -> str:
    """Return the normalised text without punctuation at its ends: equal keys, same question."""
    normalised = normalise(text)
    return EDGES.sub("", normalised) or normalised


def clean(text: str) -> str:
    """Return text as it is stored and served: NFC, one kind of line ending, nothing hidden."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    if not (unified.isascii() and unified.isprintable()):
        unified = unicodedata.normalize("NFC", unified.translate(KEPT))
    return unified


def refuse_unstorable(text: str) -> None:
    """Refuse text that the database cannot hold.

    Raises: UnstorableText
    """
    found = UNSTORABLE.search(text)
    if found:
        raise UnstorableText(position=found.start())


def strip_unstorable(text: str) -> str:
    """Return the text without what the database cannot hold, for parsers of found files."""
    return UNSTORABLE.sub("", text)


def fingerprint(text: str) -> str:
    """Return the SHA-256 of the cleaned text, in hexadecimal."""
    return hashlib.sha256(clean(text).encode()).hexdigest()
