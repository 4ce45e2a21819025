"""How a LiveKit session should be set for answers that are ready when the caller stops."""

from typing import Any

from earmark_worker.speech.formatter import speech_transform

LONGEST_PREEMPTED_SPEECH = 60.0
MOST_PREEMPTIVE_TRIES = 3


def session_options(language: str = "en", *, region: str | None = None) -> dict[str, Any]:
    """Keyword arguments for `AgentSession`; your own `turn_handling` may be merged over them.

    Shape: preemptive generation on for turns of up to a minute, at most three tries, no
    preemptive voice; the speech formatter runs after LiveKit's own two filters.
    """
    return {
        "turn_handling": {
            "preemptive_generation": {
                "enabled": True,
                "preemptive_tts": False,
                "max_speech_duration": LONGEST_PREEMPTED_SPEECH,
                "max_retries": MOST_PREEMPTIVE_TRIES,
            }
        },
        "tts_text_transforms": [
            "filter_markdown",
            "filter_emoji",
            speech_transform(language, region=region),
        ],
    }
