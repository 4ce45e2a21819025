"""Earmark for LiveKit Agents: import from here."""

from earmark_worker.adapters.livekit.agent import EarmarkAgent
from earmark_worker.adapters.livekit.options import session_options
from earmark_worker.adapters.livekit.survey_task import SurveyResult, SurveyTask
from earmark_worker.opening import CallDetails, open_conversation
from earmark_worker.settings import Settings
from earmark_worker.wire import Call

__all__ = [
    "Call",
    "CallDetails",
    "EarmarkAgent",
    "Settings",
    "SurveyResult",
    "SurveyTask",
    "open_conversation",
    "session_options",
]
