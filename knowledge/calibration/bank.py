"""General questions that no help centre answers: what a search looks like when nothing fits."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

LANGUAGES: Final = ("ar", "de", "en", "es", "fr", "hi", "ru", "zh")
_FOLDER: Final = Path(__file__).parent / "bank"


@lru_cache(maxsize=len(LANGUAGES))
def questions(language: str) -> tuple[str, ...]:
    """Return about 120 questions in one of LANGUAGES, about everyday things."""
    lines = (_FOLDER / f"{language}.txt").read_text("utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip())
