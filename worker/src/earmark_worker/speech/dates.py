"""How dates and times of day are said."""

import re
from datetime import date

from earmark_worker.speech.names import day_comes_first, spoken_date
from earmark_worker.speech.voices import Voice

_HOURS_OF_A_CLOCK = 12
_MONTHS = 12


def year_first(match: re.Match[str], voice: Voice) -> str | None:
    """A date as year, month and day."""
    return _date(int(match["y"]), int(match["m"]), int(match["d"]), voice)


def written_date(match: re.Match[str], voice: Voice) -> str | None:
    """A date in figures, in the order of the region; as written when it may be two dates."""
    first, second, year = int(match["a"]), int(match["b"]), int(match["y"])
    dotted = match["s"] == "."
    day_first = True if dotted else day_comes_first(voice.language, voice.region)
    if max(first, second) > _MONTHS or first == second:
        day, month = max(first, second), min(first, second)
    elif day_first is None:
        return match.group()
    else:
        day, month = (first, second) if day_first else (second, first)
    return _date(year, month, day, voice)


def clock(match: re.Match[str], voice: Voice) -> str | None:
    """An hour before or after noon, or from one to another: "9 AM", "9 to 5 PM"."""
    if int(re.split(r"[:.]", match["t"])[0]) > _HOURS_OF_A_CLOCK:
        return None
    start = f"{match['from']} {voice.words.to} " if match["from"] else ""
    return f"{start}{match['t']} {match['half']}"


def _date(year: int, month: int, day: int, voice: Voice) -> str | None:
    try:
        return spoken_date(date(year, month, day), voice.language, voice.region)
    except ValueError:
        return None
