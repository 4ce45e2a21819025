"""Latency by selectivity beside the peers, as one SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from bench.measuring import Cell
from config.private import ROOT

PICTURE = ROOT / "docs" / "performance.svg"
COLOURS = {
    "earmark": "#2f6f9f", "haystack": "#b5542b", "qdrant": "#7b8f3a", "faiss": "#8a6bb0",
    "loopback": "#9aa5b1",
}  # fmt: skip
LEFT, WIDTH, TOP, HEIGHT = 60, 560, 50, 260
_FRAME = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="{label}">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="12" y="22" font-size="15" font-weight="600" fill="#1c2733">{label}</text>
{body}
</svg>
"""


def picture(cells: Sequence[Cell]) -> str:
    """Return medians of one query, on topic, of the largest size; the scale is logarithmic."""
    largest = max(cell.passages for cell in cells)
    shown = [c for c in cells if c.passages == largest and c.on_topic and c.queries == 1]
    values = [timing.p50 for cell in shown for timing in cell.timings.values()]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    scale = _Scale(low, max(high, low + 1), len(shown))
    body = [
        *_axes(scale, shown),
        *(line for name in COLOURS for line in _series(scale, shown, name)),
    ]
    return _FRAME.format(
        width=LEFT + WIDTH + 110,
        height=TOP + HEIGHT + 40,
        label=f"Milliseconds of one query over {largest:,} passages, by share in scope",
        body="\n".join(body),
    )


class _Scale:
    def __init__(self, low: int, high: int, count: int) -> None:
        self.low, self.high, self.count = low, high, count

    def x(self, place: int) -> float:
        return round(LEFT + WIDTH * (place + 0.5) / self.count, 1)

    def y(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(TOP + HEIGHT * (1 - share), 1)


def _axes(scale: _Scale, shown: Sequence[Cell]) -> Iterator[str]:
    for power in range(scale.low, scale.high + 1):
        y = scale.y(10.0**power)
        yield f'<line x1="{LEFT}" y1="{y}" x2="{LEFT + WIDTH}" y2="{y}" stroke="#e3e8ee"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end" fill="#6b7886">{10.0**power:g}</text>'
    for place, cell in enumerate(shown):
        x, y = scale.x(place), TOP + HEIGHT + 20
        yield f'<text x="{x}" y="{y}" text-anchor="middle" fill="#1c2733">{escape(cell.scope)}</text>'


def _series(scale: _Scale, shown: Sequence[Cell], name: str) -> Iterator[str]:
    points = [
        (scale.x(place), scale.y(cell.timings[name].p50))
        for place, cell in enumerate(shown)
        if name in cell.timings
    ]
    if not points:
        return
    colour = COLOURS[name]
    path = " ".join(f"{x},{y}" for x, y in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for x, y in points:
        yield f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>'
    x, y = points[-1]
    yield f'<text x="{LEFT + WIDTH + 4}" y="{y + 4}" fill="{colour}">{name}</text>'
