"""The targets beside what was measured, written into docs/evaluation.md with a baseline, or by `python -m evals.targets`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from config.private import ROOT
from evals.baseline import Measured, stored
from evals.measuring import AUROC, LOWER_IS_BETTER, RECALL, REFUSAL, SIBLING_FIRST, Figure

PAGE: Final = ROOT / "docs" / "evaluation.md"
BEGIN: Final = "<!-- targets: written by python -m evals.targets -->\n"
END: Final = "<!-- end of targets -->\n"
NDCG, RECALL_5, FIRST = "nDCG@10", "recall@5", "P@1"
FIVE: Final = ("ar", "en", "es", "hi", "zh")
_SAID: Final = {
    RECALL: "answered", REFUSAL: "refused", SIBLING_FIRST: "wrong sibling first", AUROC: AUROC,
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """One figure to reach; of several slices it is their mean."""

    set: str
    slices: tuple[str, ...]
    metric: str
    aim: float
    said: str = ""

    @property
    def name(self) -> str:
        """What the row is called."""
        return f"{self.said or ', '.join(self.slices)}: {_SAID.get(self.metric, self.metric)}"

    def figure(self, measured: Mapping[str, Measured]) -> Figure | None:
        """Return what was measured, with its interval where it is of one slice; None without it."""
        known = measured[self.set].slices if self.set in measured else {}
        found = [
            known[place].figures[self.metric]
            for place in self.slices
            if place in known and self.metric in known[place].figures
        ]
        if len(found) < len(self.slices):
            return None
        mean = sum(figure.value for figure in found) / len(found)
        return found[0] if len(found) == 1 else Figure(mean, mean, mean)

    def count(self, measured: Mapping[str, Measured]) -> int:
        """Return how many questions the slices hold."""
        known = measured[self.set].slices
        return sum(known[place].count for place in self.slices)

    def is_reached(self, value: float) -> bool:
        """Whether a figure is good enough, as it is printed."""
        if self.metric in LOWER_IS_BETTER:
            return round(value, 3) <= self.aim
        return round(value, 3) >= self.aim


TARGETS: Final = (
    Target("howto_bc", ("heading",), NDCG, 0.85),
    Target("howto_bc", ("heading",), RECALL_5, 0.92),
    *(
        Target("xling_xquad", (language,), NDCG, aim, f"{language}, with machine English")
        for language, aim in (
            ("ar", 0.91), ("zh", 0.93), ("hi", 0.94), ("ru", 0.94), ("es", 0.95), ("de", 0.95),
        )
    ),
    Target("noisy_xquad", ("asr_natural",), NDCG, 0.87),
    Target("golden_multilingual", FIVE, RECALL_5, 0.95, "mean of five languages, native alone"),
    Target("golden_multilingual", FIVE, FIRST, 0.80, "mean of five languages, native alone"),
    *(
        Target(
            "golden_multilingual",
            ("en", *(f"{name} english_human" for name in FIVE if name != "en")),
            metric, aim, "mean of five languages, with a person's English",
        )
        for metric, aim in ((RECALL_5, 0.95), (FIRST, 0.80))
    ),
    Target("oos_clinc", ("all",), NDCG, 0.925),
    Target("oos_banking77", ("all",), NDCG, 0.87),
    Target("neardup_bc_country", ("all",), FIRST, 0.92),
    Target("neardup_bc_country", ("all",), SIBLING_FIRST, 0.0),
    Target("neardup_venues", ("all",), FIRST, 0.985),
    Target("followup_mtrag", ("follow_up",), NDCG, 0.79),
    Target("howto_bc", ("all",), RECALL, 0.95),
    Target("howto_bc", ("far",), REFUSAL, 0.90),
    Target("howto_bc", ("far-howto",), REFUSAL, 0.90),
    Target("oos_clinc", ("oos",), AUROC, 0.94),
)  # fmt: skip


def rows(measured: Mapping[str, Measured]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| set | figure | questions | target | measured | 95 % interval | |"
    yield "|---|---|---|---|---|---|---|"
    for target in TARGETS:
        figure = target.figure(measured)
        if figure is None:
            yield f"| {target.set} | {target.name} | | {target.aim} | not measured | | |"
            continue
        interval = "" if figure.low == figure.high else f"{figure.low:.3f} to {figure.high:.3f}"
        reached = "reached" if target.is_reached(figure.value) else "**missed**"
        yield (
            f"| {target.set} | {target.name} | {target.count(measured)} | {target.aim:.3f}"
            f" | {figure.value:.3f} | {interval} | {reached} |"
        )


def written(page: str, measured: Mapping[str, Measured]) -> str:
    """Return the page with today's table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n".join(["", *rows(measured), "", ""]) + END + after


def main() -> int:
    """Write the page."""
    PAGE.write_text(written(PAGE.read_text("utf-8"), stored()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
