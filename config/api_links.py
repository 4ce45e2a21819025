"""What an answer of the people's API is good for next, as links of its OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_BODY: Final = "$response.body#/id"
_FIRST: Final = "$response.body#/results/0/id"
_PATH: Final = "$request.path.id"


@dataclass(frozen=True)
class Named:
    """Which addresses an answer gives the id of, and with its ETag the version.

    Shape: `only` names the operations that can follow, where not all of them can; `also` are more
           parameters, `said` is what goes into the body of an operation.
    """

    below: str
    id: str = _BODY
    only: frozenset[str] = frozenset()
    also: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


_OF_A_SOURCE: Final = frozenset(
    {"sources_read", "sources_rename", "sources_delete", "schedule_make"}
)
_OF_A_SCHEDULE: Final = frozenset(
    {"schedule_read", "schedule_change", "sources_sync", "sources_confirm_removals",
     "sources_refuse_removals"}
)  # fmt: skip
# What is not there yet when the thing itself has just been made.
_LATER: Final = frozenset({"golden_answers_sync"})

# By the shape of the answer.
NAMED: Final = {
    "ItemAnswer": Named("items/{id}"),
    "InstructionAnswer": Named("instructions/{id}"),
    # A source and its schedule have versions of their own.
    "SourceAnswer": Named("sources/{id}", only=_OF_A_SOURCE),
    "ScheduleAnswer": Named("sources/{id}", _PATH, only=_OF_A_SCHEDULE),
    "DirectoryAnswer": Named("directories/{id}"),
    "JobAnswer": Named("jobs/{id}"),
    "WholeImportAnswer": Named("imports/{id}"),
    "GoldenAnswerAnswer": Named(
        "golden-answers/{id}",
        said={"golden_answers_roll_back": {"version": "$response.body#/live/number"}},
    ),
    "ScopeRootAnswer": Named(
        "agents/{id}/scope/{root}", _PATH, also={"path.root": "$request.path.root"}
    ),
    "ItemPage": Named("items/{id}", _FIRST),
    "InstructionPage": Named("instructions/{id}", _FIRST),
    "SourcePage": Named("sources/{id}", _FIRST, only=_OF_A_SOURCE),
    "DirectoryPage": Named("directories/{id}", _FIRST),
    "JobPage": Named("jobs/{id}", _FIRST),
    "ImportPage": Named("imports/{id}", _FIRST),
    "GoldenAnswerPage": Named("golden-answers/{id}", _FIRST),
}  # fmt: skip
# A source is named in the body of what is pushed into it.
PUSHED: Final = ("sources_make", "items_push", {"source": "$response.body#/slug"})
Operation = dict[str, Any]


def link(document: dict[str, Any], base: str) -> None:
    """Add to every answer the operations that it gives an id, a version or a cursor for."""
    operations = {
        (path.removeprefix(base), operation["operationId"]): operation
        for path, methods in document["paths"].items()
        for operation in methods.values()
    }
    for (path, _name), operation in operations.items():
        for status, response in _answers(operation):
            links = dict(_links(response, operation, path, operations))
            for name in _LATER if status == "201" else ():
                links.pop(name, None)
            if links:
                response["links"] = links


def _links(
    response: dict[str, Any],
    operation: Operation,
    path: str,
    operations: dict[tuple[str, str], Operation],
) -> Iterator[tuple[str, dict[str, Any]]]:
    shape = _shape(response)
    if shape in NAMED:
        yield from _by_id(NAMED[shape], response, operations)
    own = operation["operationId"]
    if "cursor" in _parameters(operation):
        yield f"{own}_next", _link(own, {"query.cursor": "$response.body#/next", **_kept(path)})
    made, push, body = PUSHED
    if own == made:
        yield push, _link(push, {}, body)


def _by_id(
    named: Named,
    response: dict[str, Any],
    operations: dict[tuple[str, str], Operation],
) -> Iterator[tuple[str, dict[str, Any]]]:
    for (path, name), operation in operations.items():
        is_below = path == named.below or path.startswith(f"{named.below}/")
        if not is_below or (named.only and name not in named.only):
            continue
        parameters = {"path.id": named.id, **named.also}
        if "If-Match" in _parameters(operation):
            if "ETag" not in response.get("headers", {}):
                continue
            parameters["header.If-Match"] = "$response.header.ETag"
        yield name, _link(name, parameters, named.said.get(name))


def _link(
    name: str, parameters: dict[str, str], body: Mapping[str, str] | None = None
) -> dict[str, Any]:
    told: dict[str, Any] = {"operationId": name, "parameters": parameters}
    return told | {"requestBody": dict(body)} if body else told


def _kept(path: str) -> dict[str, str]:
    return {"path.id": _PATH} if "{id}" in path else {}


def _answers(operation: Operation) -> Iterator[tuple[str, dict[str, Any]]]:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield status, response


def _shape(response: dict[str, Any]) -> str:
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _parameters(operation: Operation) -> set[str]:
    return {one["name"] for one in operation.get("parameters", ())}
