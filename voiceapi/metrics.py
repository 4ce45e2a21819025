"""What Prometheus may know of the voice API: counts and durations, no names."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

_SECONDS: Final = (0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.5)

SEARCHES: Final = Counter("earmark_voice_searches", "Searches of voice runtimes.", ["status"])
SEARCH_SECONDS: Final = Histogram(
    "earmark_voice_search_seconds", "Seconds from arrival to answer.", buckets=_SECONDS
)
STEP_SECONDS: Final = Histogram(
    "earmark_voice_search_step_seconds", "Seconds in one step of a search.", ["step"],
    buckets=_SECONDS,
)  # fmt: skip
DEGRADED: Final = Counter(
    "earmark_voice_degraded_searches", "Searches answered without one of the legs.", ["leg"]
)
REFUSALS: Final = Counter("earmark_voice_refusals", "Requests refused, by error code.", ["code"])
SESSIONS: Final = Counter("earmark_voice_sessions", "Sessions opened.")
IN_FLIGHT: Final = Gauge(
    "earmark_voice_requests_in_flight", "Requests being worked on.", multiprocess_mode="livesum"
)
