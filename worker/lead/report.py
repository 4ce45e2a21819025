"""Distributions of what was measured, as text and as numbers."""

from lead.call import Measured

PERCENTILES = (5, 25, 50, 75, 95)


def summary(measured: list[Measured]) -> dict:
    """The numbers of a run of turns."""
    turns = len(measured)
    searched = [m for m in measured if m.lead is not None]
    return {
        "turns": turns,
        "searched": len(searched),
        "lead_ms": distribution([m.lead for m in searched]),
        "waited_ms": distribution([m.waited for m in searched]),
        "won_ms": distribution([m.won for m in searched]),
        "search_ms": distribution([m.search for m in searched]),
        "ready_before_authorised": share(searched, lambda m: m.lead > 0),
        "begun_early": share(searched, lambda m: m.used > 0),
        "backend_requests_per_turn": sum(m.started + m.searches - m.used for m in measured) / turns,
        "wasted_searches_per_turn": sum(m.started - m.used for m in measured) / turns,
        "histogram_lead_ms": histogram([m.lead for m in searched]),
    }


def distribution(values: list[float]) -> dict[str, float]:
    """Percentiles of values."""
    ordered = sorted(values)
    return {
        f"p{p}": round(ordered[min(len(ordered) * p // 100, len(ordered) - 1)]) for p in PERCENTILES
    }


def share(measured: list[Measured], holds) -> float:
    """The share of turns for which something holds."""
    return round(sum(map(bool, map(holds, measured))) / max(len(measured), 1), 3)


def histogram(values: list[float], *, width: int = 200) -> dict[str, int]:
    """How many values fall into each step of so many milliseconds."""
    counts: dict[int, int] = {}
    for value in values:
        counts[int(value // width) * width] = counts.get(int(value // width) * width, 0) + 1
    return {f"{step}": counts[step] for step in sorted(counts)}


def as_text(name: str, numbers: dict) -> str:
    """A summary for people."""
    lines = [f"{name}: {numbers['turns']} turns, {numbers['searched']} searched"]
    for key in ("lead_ms", "waited_ms", "won_ms", "search_ms"):
        spread = "  ".join(f"{p} {v:>6}" for p, v in numbers[key].items())
        lines.append(f"  {key:<12} {spread}")
    for key in (
        "begun_early",
        "ready_before_authorised",
        "wasted_searches_per_turn",
        "backend_requests_per_turn",
    ):
        lines.append(f"  {key:<28} {numbers[key]:.3f}")
    most = max(numbers["histogram_lead_ms"].values())
    for step, count in numbers["histogram_lead_ms"].items():
        lines.append(f"  {step:>7} ms {'#' * max(1, round(40 * count / most))} {count}")
    return "\n".join(lines)
