"""Cuts streamed text where no rule can reach across, so that chunk borders never matter.

A cut needs plain words around it: after anything with a digit, a sign or capitals, three plain
words have to pass. Where a text is cut depends on the text alone, never on how it arrives.
"""

import re
import unicodedata

from earmark_worker.languages.folding import is_han
from earmark_worker.speech.voices import Voice
from earmark_worker.speech.words import UNITS

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+")
_CHINESE_NUMERALS = frozenset(
    "零〇一二三四五六七八九十百千万亿萬億兆两年月日号元块角分时点个之负到第至"
)
_SENTENCE_END = ".!?。！？؟।…"
_SIGNS = frozenset("@/+#%٪％°$€£¥￥₹₺₩₽-–~～〜−_&")
_REACH = 3
_SHORTEST_SENTENCE_END = 5


class Segmenter:
    """Holds text back until it can be formatted without what follows."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._buffer = ""
        self._plain = [True] * _REACH
        self._last = ""

    def feed(self, chunk: str) -> list[str]:
        """Take more text; gives the segments that are complete by now."""
        self._buffer += chunk
        return self._cut(final=False)

    def flush(self) -> list[str]:
        """The rest, at the end of the stream."""
        rest = self._cut(final=True)
        tail, self._buffer = self._buffer, ""
        return [*rest, tail] if tail else rest

    def _cut(self, *, final: bool) -> list[str]:
        segments, start = [], 0
        tokens = list(_TOKEN.finditer(self._buffer))
        first_unread = len(tokens)
        flags, last, previous_end = list(self._plain), self._last, 0
        kept_flags, kept_last = flags, last
        for index, token in enumerate(tokens):
            if not (final or self._is_complete(token)):
                break
            text = token.group()
            plain = self._is_plain(text)
            gap = self._buffer[previous_end : token.start()]
            if token.start() > start and self._may_cut(flags, last, gap, plain=plain):
                segments.append(self._buffer[start : token.start()])
                start, first_unread = token.start(), index
                kept_flags, kept_last = list(flags), last
            flags, last, previous_end = [*flags[1:], plain], text, token.end()
        self._buffer = self._buffer[start:] if first_unread < len(tokens) else self._buffer
        self._plain, self._last = kept_flags, kept_last
        return segments

    def _is_complete(self, token: re.Match[str]) -> bool:
        return is_han(token.group()) or token.end() < len(self._buffer)

    def _may_cut(self, flags: list[bool], last: str, gap: str, *, plain: bool) -> bool:
        if "\n" in gap or self._ends_sentence(last, gap):
            return True
        return plain and all(flags)

    def _ends_sentence(self, last: str, gap: str) -> bool:
        if not last or last[-1] not in _SENTENCE_END or any(map(str.isnumeric, last)):
            return False
        return last[-1] not in "." or (bool(gap) and len(last) >= _SHORTEST_SENTENCE_END)

    def _is_plain(self, token: str) -> bool:
        if any(char in _SIGNS or char in _CHINESE_NUMERALS for char in token):
            return False
        if any(unicodedata.category(char)[0] == "N" for char in token):
            return False
        bare = token.strip(".,;:!?()[]\"'«»“”،؛؟。，")
        return not (self._is_capitals(bare) or bare in UNITS or self._is_hint(bare))

    def _is_capitals(self, bare: str) -> bool:
        return len(bare) > 1 and bare.rstrip("s").isupper()

    def _is_hint(self, bare: str) -> bool:
        return bare.lower() in self._voice.words.hints
