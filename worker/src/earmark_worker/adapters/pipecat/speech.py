"""The speech formatter as a Pipecat text transform: `tts.add_text_transformer(speakable("en"))`."""

from collections.abc import Awaitable, Callable
from typing import Any

from earmark_worker.speech.formatter import format_text


def speakable(language: str = "en", *, region: str | None = None) -> Callable[..., Awaitable[str]]:
    """A transform of the sentences that go to the voice; context and transcript stay as written."""

    async def transform(text: str, _text_type: Any = None) -> str:
        return format_text(text, language, region=region)

    return transform
