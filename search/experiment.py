"""One question, two ways of searching side by side; nothing is recorded and no caller is answered by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from knowledge.embedding.spaces import Status, filled_spaces
from knowledge.errors import EmbeddingMisconfigured
from knowledge.models import EmbeddingSpace
from knowledge.retrieval.policy import DEFAULT_POLICY, RetrievalPolicy
from knowledge.retrieval.types import Answer
from search.as_agent import USUAL_CHANNEL, USUAL_LIMIT, Call
from search.asking_agent import agent_asked
from search.explaining import SHOWN, Explained, LegFound, explained, legs_found
from search.forms import AsAgentForm
from search.trying import Variant, try_variant
from tenants.admin_authority import at_of
from tenants.admin_site import our_site, own_transaction
from tenants.models import PhoneAgent

USUAL: Final = "usual"
RANKS: Final = "ranks"
# Name -> what is tried. What is read when a corpus is measured cannot be tried on one question.
POLICIES: Final[dict[str, tuple[str | Promise, RetrievalPolicy]]] = {
    USUAL: (gettext_lazy("As callers are answered"), DEFAULT_POLICY),
    "sum": (gettext_lazy("Sum of scores"), replace(DEFAULT_POLICY, fusion="score_sum")),
    RANKS: (gettext_lazy("Reciprocal ranks"), replace(DEFAULT_POLICY, fusion="reciprocal_rank")),
    "meaning": (gettext_lazy("Meaning alone"), replace(DEFAULT_POLICY, lexical_weight=0.0, golden_lexical_weight=0.0)),
    "words": (gettext_lazy("Words count twice"),
              replace(DEFAULT_POLICY, lexical_weight=2 * DEFAULT_POLICY.lexical_weight,
                      golden_lexical_weight=2 * DEFAULT_POLICY.golden_lexical_weight)),
    "titles": (gettext_lazy("Titles count twice"),
               replace(DEFAULT_POLICY, title_weight=2 * DEFAULT_POLICY.title_weight)),
    "bodies": (gettext_lazy("Titles do not count"),
               replace(DEFAULT_POLICY, title_weight=0.0, golden_title_weight=0.0,
                       golden_phrasings_weight=0.0)),
    "strict": (gettext_lazy("Only what is surely near"),
               replace(DEFAULT_POLICY, relevance_floor=DEFAULT_POLICY.weak_below)),
}  # fmt: skip
SIDES: Final = {"left": gettext_lazy("Left"), "right": gettext_lazy("Right")}


class ExperimentForm(AsAgentForm):
    """A question, a call, and the two ways to compare."""

    def __init__(self, agent: PhoneAgent, *args: Any, **kwargs: Any) -> None:
        super().__init__(agent, *args, **kwargs)
        del self.fields["why"]
        spaces = [("", _("The one that is searched")), *_spaces()]
        policies = [(name, label) for name, (label, _policy) in POLICIES.items()]
        for side, usual in zip(SIDES, (USUAL, RANKS), strict=True):
            self.fields[f"{side}_policy"] = forms.ChoiceField(
                label=_("Ranking"), choices=policies, initial=usual
            )
            self.fields[f"{side}_space"] = forms.ChoiceField(
                label=_("Embedding space"), choices=spaces, required=False
            )

    @property
    def sides(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the boxes of both ways, under their names."""
        return [
            (str(name), [self[f"{side}_policy"], self[f"{side}_space"]])
            for side, name in SIDES.items()
        ]

    def variant(self, side: str) -> Variant:
        """Return what one side tries."""
        key = self.cleaned_data[f"{side}_space"]
        space = EmbeddingSpace.objects.get(key=key) if key else None
        return Variant(POLICIES[self.cleaned_data[f"{side}_policy"]][1], space)


def _spaces() -> list[tuple[str, str]]:
    return [(space.key, space.key) for space in filled_spaces() if space.status != Status.ACTIVE]


@dataclass(frozen=True)
class Side:
    """One way of searching, and what came of it."""

    name: str
    policy: str
    answer: Answer
    rows: list[Explained]
    legs: list[LegFound]
    elsewhere: dict[UUID, int]

    @property
    def told(self) -> list[tuple[Explained, int | None]]:
        """Return the first candidates, each with its place on the other side."""
        return [(row, self.elsewhere.get(row.ranked.asset_id)) for row in self.rows[:SHOWN]]


@own_transaction
def show_experiment(request: HttpRequest, agent_id: UUID) -> HttpResponse:
    """Show one question asked in two ways; the address holds everything, so it can be shared."""
    agent = agent_asked(request, agent_id)
    form = ExperimentForm(agent, _asked(request) if request.GET else None)
    context: dict[str, Any] = {
        **our_site().each_context(request),
        "title": _("Experiment as %s") % agent.name,
        "agent": agent,
        "form": form,
    }
    if form.is_valid():
        context |= _outcome(agent, form, form.call(at_of(request)))
    return TemplateResponse(request, "search/experiment.html", context)


def _asked(request: HttpRequest) -> Any:
    asked = request.GET.copy()
    for name, usual in (
        ("channel", USUAL_CHANNEL),
        ("limit", str(USUAL_LIMIT)),
        ("left_policy", USUAL),
        ("right_policy", RANKS),
    ):
        asked.setdefault(name, usual)
    return asked


def _outcome(agent: PhoneAgent, form: ExperimentForm, call: Call) -> dict[str, Any]:
    limit = form.cleaned_data["limit"] or USUAL_LIMIT
    variants = [form.variant(side) for side in SIDES]
    try:
        answers = [try_variant(agent, form.queries, call, one, limit=limit) for one in variants]
    except EmbeddingMisconfigured as error:
        return {"refusal": str(error)}
    places = [_places(answer) for answer in answers]
    told = [
        Side(
            name=str(name),
            policy=str(POLICIES[form.cleaned_data[f"{side}_policy"]][0]),
            answer=answer,
            rows=explained(answer, len(form.queries), variant.policy),
            legs=legs_found(answer, form.queries),
            elsewhere=other,
        )
        for (side, name), answer, variant, other in zip(
            SIDES.items(), answers, variants, reversed(places), strict=True
        )
    ]
    return {"sides": told, "same": _same_words(answers)}


def _places(answer: Answer) -> dict[UUID, int]:
    return {ranked.asset_id: place for place, ranked in enumerate(answer.ranked, start=1)}


def _same_words(answers: list[Answer]) -> str:
    first, other = ([result.asset_id for result in answer.results] for answer in answers)
    if first == other:
        return _("Both give the same results in the same order.")
    if first[:1] == other[:1]:
        return _("Both give the same first result; the others differ.")
    return _("The first result differs.")
