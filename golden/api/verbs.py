"""The verbs on answers, for programs: each a POST at the version that was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from golden import errors, keeping, publishing
from golden.acting import Act
from golden.api import shapes
from golden.api.door import GoldenView
from golden.models import GoldenAnswer
from tenants.api.described import ETAG, IF_MATCH, KEY
from tenants.models import Role, User
from tenants.refusals import InvalidRequest

Said = Mapping[str, Any]


@dataclass(frozen=True)
class Verb:
    """A verb: its name in the address, the role it needs, what it does, and what may be said."""

    name: str
    role: str
    use: Callable[[GoldenAnswer, Act, Said], object]
    description: str
    shape: type[serializers.Serializer[Any]] = shapes.Reason


def _request(golden: GoldenAnswer, act: Act, _said: Said) -> object:
    return publishing.request_publish(golden.organization_id, golden.pk, act)


def _approve(golden: GoldenAnswer, act: Act, _said: Said) -> object:
    return publishing.approve(golden.organization_id, _open(golden), act)


def _reject(golden: GoldenAnswer, act: Act, _said: Said) -> object:
    return publishing.reject(golden.organization_id, _open(golden), act)


def _override(golden: GoldenAnswer, act: Act, _said: Said) -> object:
    return publishing.override_publish(golden.organization_id, golden.pk, act)


def _roll_back(golden: GoldenAnswer, act: Act, said: Said) -> object:
    version = golden.versions.filter(number=said["version"]).first()
    if version is None:
        raise errors.VersionNeverPublished
    return publishing.roll_back(golden.organization_id, golden.pk, version.pk, act)


def _archive(golden: GoldenAnswer, act: Act, _said: Said) -> object:
    return publishing.archive(golden.organization_id, golden.pk, act)


def _restore(golden: GoldenAnswer, act: Act, _said: Said) -> object:
    return publishing.restore(golden.organization_id, golden.pk, act)


def _verify(golden: GoldenAnswer, act: Act, _said: Said) -> object:
    return keeping.verify(golden.organization_id, golden.pk, act)


def _care(golden: GoldenAnswer, act: Act, said: Said) -> object:
    owner = User.objects.filter(username=said["owner"]).first() if said["owner"] else None
    if said["owner"] and owner is None:
        raise InvalidRequest(fields={"owner": ["This person is not a member."]})
    care = keeping.Care(owner.pk if owner else None, said["review_days"])
    return keeping.assign(golden.organization_id, golden.pk, care, act)


def _open(golden: GoldenAnswer) -> UUID:
    found = golden.requests.filter(status="open").first()
    if found is None:
        raise errors.RequestNotOpen
    return found.pk


VERBS: Final = (
    Verb("request", Role.AUTHOR, _request,
         "Freeze the draft and ask that it goes live; it does at once where nobody has to approve."),
    Verb("approve", Role.APPROVER, _approve, "Let what was requested go live, exactly as it was."),
    Verb("reject", Role.APPROVER, _reject, "Decline what was requested, with a reason."),
    Verb("override", Role.PUBLISHER, _override, "Publish the draft without approval, with a reason."),
    Verb("roll-back", Role.PUBLISHER, _roll_back,
         "Make a version live again that was live before.", shapes.RollBack),
    Verb("archive", Role.PUBLISHER, _archive, "Take it out of service: gone from the next search."),
    Verb("restore", Role.PUBLISHER, _restore, "Bring an archived answer back as a draft."),
    Verb("verify", Role.AUTHOR, _verify, "Say that what is live still holds."),
    Verb("care", Role.AUTHOR, _care, "Set the owner and the review interval.", shapes.Care),
)  # fmt: skip


def view_of(verb: Verb) -> type[GoldenView]:
    """Return the address of a verb; its answer carries the generation that the index is asked for."""

    class VerbView(GoldenView):
        @extend_schema(
            operation_id=f"golden_answers_{verb.name.replace('-', '_')}",
            description=verb.description,
            request=verb.shape,
            parameters=[IF_MATCH, KEY, ETAG],
            responses=shapes.GoldenAnswerAnswer,
        )
        def post(self, request: Request, pk: str) -> Response:
            """Use the verb."""
            said = self.body(request, verb.shape)

            def work(golden: GoldenAnswer, expects: int) -> object:
                return verb.use(golden, self.act(said["reason"], expects), said)

            return self.changed(pk, verb.role, work)

    return VerbView
