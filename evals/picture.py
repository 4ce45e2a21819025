"""One picture of a run: nDCG@10 by set and language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from evals.baseline import Measured
from evals.measuring import ALL

METRIC = "nDCG@10"
LEFT, WIDTH, ROW, TOP = 230, 520, 20, 44
_PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="{label}">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="12" y="22" font-size="15" font-weight="600" fill="#1c2733">{label}</text>
{grid}
{rows}
</svg>
"""
_LINE = '<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}" stroke="#e3e8ee"/><text x="{x}" y="{below}" text-anchor="middle" fill="#6b7886">{value}</text>'
_ROW = (
    '<text x="{name_x}" y="{text_y}" text-anchor="end" fill="#1c2733"{weight}>{name}</text>'
    '<rect x="{left}" y="{y}" width="{bar}" height="{thick}" rx="2" fill="{colour}"/>'
    '<line x1="{low}" y1="{middle}" x2="{high}" y2="{middle}" stroke="#1c2733" stroke-opacity=".55"/>'
    '<text x="{value_x}" y="{text_y}" fill="#1c2733">{value}</text>'
)


def picture(results: Mapping[str, Measured]) -> str:
    """Return an SVG with one bar for each set and language, and its 95 % interval."""
    rows = list(_rows(results))
    bottom = TOP + ROW * len(rows)
    return _PICTURE.format(
        width=LEFT + WIDTH + 60,
        height=bottom + 28,
        label=f"{METRIC} by set and language, with 95 % intervals",
        grid="\n".join(_grid(bottom)),
        rows="\n".join(_drawn(number, *row) for number, row in enumerate(rows)),
    )


def _rows(
    results: Mapping[str, Measured],
) -> Iterator[tuple[str, bool, tuple[float, float, float]]]:
    for name, measured in sorted(results.items()):
        languages = [place for place in measured.slices if len(place) == 2]
        places = [ALL, *sorted(languages)] if len(languages) > 1 else [ALL]
        for place in places:
            figure = (
                measured.slices[place].figures.get(METRIC) if place in measured.slices else None
            )
            if figure:
                is_whole = place == ALL
                yield name if is_whole else place, is_whole, (figure.value, figure.low, figure.high)


def _grid(bottom: int) -> Iterator[str]:
    for tenths in range(0, 11, 2):
        x = LEFT + WIDTH * tenths / 10
        yield _LINE.format(
            x=x, top=TOP - 6, bottom=bottom, below=bottom + 16, value=f"{tenths / 10:.1f}"
        )


def _drawn(number: int, name: str, is_whole: bool, figure: tuple[float, float, float]) -> str:  # noqa: FBT001
    value, low, high = figure
    y = TOP + ROW * number
    return _ROW.format(
        name=escape(name),
        name_x=LEFT - 8,
        weight=' font-weight="600"' if is_whole else "",
        left=LEFT,
        y=y + 3,
        thick=ROW - 7,
        bar=round(WIDTH * value, 1),
        colour="#2f6f9f" if is_whole else "#9cc3de",
        low=round(LEFT + WIDTH * low, 1),
        high=round(LEFT + WIDTH * high, 1),
        middle=y + ROW / 2,
        text_y=y + 14,
        value_x=round(LEFT + WIDTH * max(high, value) + 6, 1),
        value=f"{value:.3f}",
    )
