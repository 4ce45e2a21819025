"""Four lines over the time of a soak, one below the other, as one SVG."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

NAMES: Final = {
    "memory_mb": "Memory, MB",
    "backends_mb": "Memory of the database's backends, MB",
    "connections": "Connections",
    "pending_s": "Oldest waiting change, s",
}
_WIDTH, _HEIGHT, _LEFT = 640, 120, 60


def plot(report: Mapping[str, Any]) -> str:
    """Return the picture of a report."""
    samples = report["samples"]
    last = max(sample["at"] for sample in samples) or 1.0
    parts = [
        _panel(name, label, place, samples, last)
        for place, (name, label) in enumerate(NAMES.items())
    ]
    height = len(NAMES) * (_HEIGHT + 50) + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH + _LEFT + 30} {height}"'
        ' font-family="system-ui, sans-serif" font-size="12">'
        '<rect width="100%" height="100%" fill="#ffffff"/>' + "".join(parts) + "</svg>\n"
    )


def _panel(name: str, label: str, place: int, samples: list[dict[str, Any]], last: float) -> str:
    top = 40 + place * (_HEIGHT + 50)
    most = max(max(float(sample[name]) for sample in samples), 1.0)
    points = " ".join(
        f"{_LEFT + _WIDTH * sample['at'] / last:.1f},{top + _HEIGHT * (1 - sample[name] / most):.1f}"
        for sample in samples
    )
    return (
        f'<text x="{_LEFT}" y="{top - 8}" font-weight="600" fill="#1c2733">{label}</text>'
        f'<text x="{_LEFT - 6}" y="{top + 4}" text-anchor="end" fill="#6b7886">{most:.0f}</text>'
        f'<text x="{_LEFT - 6}" y="{top + _HEIGHT}" text-anchor="end" fill="#6b7886">0</text>'
        f'<line x1="{_LEFT}" y1="{top + _HEIGHT}" x2="{_LEFT + _WIDTH}" y2="{top + _HEIGHT}" stroke="#e3e8ee"/>'
        f'<polyline points="{points}" fill="none" stroke="#2f6f9f" stroke-width="1.5"/>'
        f'<text x="{_LEFT + _WIDTH}" y="{top + _HEIGHT + 16}" text-anchor="end" fill="#6b7886">{last / 60:.0f} min</text>'
    )
