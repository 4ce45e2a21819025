"""Which speech a run of the model belongs to: the one private name of LiveKit used here."""

from contextvars import ContextVar

from livekit.agents.voice import SpeechHandle, agent_activity

# A later LiveKit may move the name: everything still works, only some searches start twice.
_CURRENT: ContextVar[SpeechHandle] | None = getattr(agent_activity, "_SpeechHandleContextVar", None)


def current_handle() -> SpeechHandle | None:
    """The handle of the speech that is being generated, when LiveKit tells."""
    return _CURRENT.get(None) if _CURRENT is not None else None
