from __future__ import annotations

from evals.baseline import Measured, stored
from evals.measuring import SIBLING_FIRST, Figure, Slice
from evals.targets import PAGE, TARGETS, Target, rows, written


def measured(**values):
    figures = {name: Figure(value, value - 0.1, value + 0.1) for name, value in values.items()}
    return {"a": Measured("", {"en": Slice(9, figures), "ar": Slice(9, figures)})}


def test_the_page_shows_the_figures_of_the_baseline():
    page = PAGE.read_text("utf-8")
    assert written(page, stored()) == page


def test_every_target_has_a_figure():
    assert [target.name for target in TARGETS if target.figure(stored()) is None] == []
    assert len(list(rows(stored()))) == len(TARGETS) + 2


def test_a_figure_of_several_slices_is_their_mean():
    figure = Target("a", ("en", "ar"), "MRR", 0.5).figure(measured(MRR=0.6))
    assert figure is not None
    assert (round(figure.value, 6), figure.low) == (0.6, figure.value)


def test_a_figure_that_lacks_a_slice_is_not_measured():
    assert Target("a", ("en", "zh"), "MRR", 0.5).figure(measured(MRR=0.6)) is None


def test_fewer_wrong_siblings_are_better():
    target = Target("a", ("en",), SIBLING_FIRST, 0.0)
    assert (target.is_reached(0.0), target.is_reached(0.01)) == (True, False)
