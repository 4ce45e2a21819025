"""Earmark for Pipecat: import from here."""

from earmark_worker.adapters.pipecat.model import (
    EarmarkMixin,
    EarmarkResponsesMixin,
    call_context,
    search_tools,
)
from earmark_worker.adapters.pipecat.speech import speakable
from earmark_worker.opening import CallDetails, open_conversation
from earmark_worker.settings import Settings
from earmark_worker.wire import Call

__all__ = [
    "Call",
    "CallDetails",
    "EarmarkMixin",
    "EarmarkResponsesMixin",
    "Settings",
    "call_context",
    "open_conversation",
    "search_tools",
    "speakable",
]
