"""Turns the text a model writes into text a voice can read, while it streams."""

from collections.abc import AsyncIterable, AsyncIterator, Callable

from earmark_worker.speech.joining import joined
from earmark_worker.speech.replacing import replacements
from earmark_worker.speech.segments import Segmenter
from earmark_worker.speech.voices import Voice, voice

# Models write the hyphen that does not break, Chinese the wide one; both are read as the plain one.
_HYPHENS = str.maketrans({"\u2010": "-", "\u2011": "-", "\uff0d": "-"})


class SpeechFormatter:
    """Formats one reply.

    Shape: feed chunks, then flush; the joined output is the same for every way of cutting the
    text into chunks.
    """

    def __init__(self, language: str = "en", *, region: str | None = None) -> None:
        self._voice = voice(language, region)
        self._segmenter = Segmenter(self._voice)

    def feed(self, chunk: str) -> str:
        """What can be spoken by now."""
        segments = self._segmenter.feed(chunk.translate(_HYPHENS))
        return "".join(spoken(segment, self._voice) for segment in segments)

    def flush(self) -> str:
        """What is left at the end of the reply."""
        return "".join(spoken(segment, self._voice) for segment in self._segmenter.flush())


def format_text(text: str, language: str = "en", *, region: str | None = None) -> str:
    """A whole text, as a voice should read it."""
    formatter = SpeechFormatter(language, region=region)
    return formatter.feed(text) + formatter.flush()


def speech_transform(
    language: str = "en", *, region: str | None = None
) -> Callable[[AsyncIterable[str]], AsyncIterator[str]]:
    """A transform for a stream of text, as LiveKit's `tts_text_transforms` takes it."""

    async def transform(text: AsyncIterable[str]) -> AsyncIterator[str]:
        formatter = SpeechFormatter(language, region=region)
        async for chunk in text:
            if ready := formatter.feed(chunk):
                yield ready
        if rest := formatter.flush():
            yield rest

    return transform


def spoken(segment: str, voice: Voice) -> str:
    """One segment, as a voice should read it."""
    return joined(segment, replacements(segment, voice), voice)
