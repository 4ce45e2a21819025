"""`manage.py embedding-space`: make a second embedding space, fill it, compare, switch, go back, drop it."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from knowledge.embedding.local import LOCAL_SPACE
from knowledge.embedding.protocol import SpaceSpec
from knowledge.embedding.selection import LOCAL, OPENAI, wanted_spec
from knowledge.embedding.spaces import FILLED, active_space, is_of
from knowledge.indexing.filling import Filler
from knowledge.models import EmbeddingSpace
from knowledge.spaces.creating import Where, create, space_named, start_filling
from knowledge.spaces.dropping import drop_batches, start_dropping
from knowledge.spaces.errors import SpaceIncomplete, SpaceJustLeft, SpaceNotReady
from knowledge.spaces.measuring import measure
from knowledge.spaces.progress import Progress, progress
from knowledge.spaces.switching import roll_back, switch
from search.comparing import LAST, Comparison, compare, logged
from tenants.auditing import Actor
from tenants.errors import EarmarkError
from tenants.models import Organization

BY: Final = Actor.process("embedding-space")
LOOK_S: Final = 1.0
# A change that came in at this moment is filled within seconds; more is for `fill`.
SOON_S: Final = 30.0


class Command(BaseCommand):
    """Change the embedding model without a pause."""

    help = "Make a second embedding space, fill it, compare both, switch, go back, drop one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One subcommand for each thing to do."""
        commands = parser.add_subparsers(dest="what", required=True)
        _add_create(commands.add_parser("create", help="Make a space for another model."))
        fill = _named(commands.add_parser("fill", help="Bring everything into it."))
        fill.add_argument("--no-wait", action="store_true", help="Leave it to the drain.")
        _add_compare(_named(commands.add_parser("compare", help="Ask the last questions in both.")))
        switched = _named(commands.add_parser("switch", help="Search in it from now on."))
        switched.add_argument(
            "--allow-missing", type=int, default=0, metavar="N", help="Rows that may lack vectors."
        )
        commands.add_parser("rollback", help="Search in the one before again.")
        _named(commands.add_parser("drop", help="Delete one that is not searched."))
        listed = commands.add_parser("list", help="Which spaces there are, and how far they are.")
        listed.add_argument("--json", action="store_true", help="As JSON.")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do what was asked."""
        try:
            getattr(self, f"_{options['what']}")(options)
        except EarmarkError as error:
            raise CommandError(str(error)) from error

    def _create(self, options: dict[str, Any]) -> None:
        where = Where(options["base_url"], not options["no_dimensions_parameter"])
        space = create(_spec(options), where, by=BY, at=_now())
        self.stdout.write(space.key)

    def _fill(self, options: dict[str, Any]) -> None:
        space = space_named(options["space"])
        missing = start_filling(space, by=BY, at=_now())
        self.stdout.write(f"{space.key}: {missing} rows to fill")
        if options["no_wait"]:
            return
        space.refresh_from_db()
        self._wait(space)
        for slug in measure(space, at=_now()):
            self.stdout.write(f"{slug}: measured")

    def _wait(self, space: EmbeddingSpace) -> None:
        """Fill beside whoever else does, and say how far it is."""
        filler, told = Filler(_now), ""
        while True:
            found = _progress(space)
            if (line := _sentence(space, found)) != told:
                told = line
                self.stdout.write(line)
            if all(one.missing == one.failed for one in found):
                return
            ends = time.monotonic() + LOOK_S
            if not filler.run(lambda ends=ends: time.monotonic() < ends):  # type: ignore[misc]
                time.sleep(LOOK_S / 4)

    def _compare(self, options: dict[str, Any]) -> None:
        then, now = space_named(options["space"]), active_space()
        if now is None or now.pk == then.pk:
            raise CommandError("Name another space than the one that is searched.")
        if then.status not in FILLED:
            raise SpaceNotReady
        questions = logged(_organizations(options["organization"]), most=options["last"])
        told = None
        for told in compare(questions, now, then, at=_now()):
            if told.questions % 20 == 0 and not options["json"]:
                self.stdout.write(f"{told.questions} of {len(questions)} questions")
        if told is None:
            raise CommandError("No question was logged yet.")
        as_json = json.dumps(told.as_dict(), indent=2, ensure_ascii=False)
        self.stdout.write(as_json if options["json"] else _told(told))

    def _switch(self, options: dict[str, Any]) -> None:
        space = space_named(options["space"])
        filler, ends = Filler(_now), time.monotonic() + SOON_S
        while True:
            try:
                switch(space, by=BY, at=_now(), allow_missing=options["allow_missing"])
                break
            except SpaceIncomplete:
                # Content changes all the time; what came in just now is no reason to refuse.
                if time.monotonic() >= ends or not filler.run(lambda: time.monotonic() < ends):
                    raise
        self.stdout.write(f"Searches use {space.key} now.")

    def _rollback(self, _options: dict[str, Any]) -> None:
        self.stdout.write(f"Searches use {roll_back(by=BY, at=_now()).key} again.")

    def _drop(self, options: dict[str, Any]) -> None:
        space = space_named(options["space"])
        while True:
            try:
                start_dropping(space, by=BY, at=_now())
                break
            except SpaceJustLeft:
                time.sleep(LOOK_S)
        deleted = drop_batches(space)
        self.stdout.write(f"{space.key} is gone: {deleted} vectors deleted.")

    def _list(self, options: dict[str, Any]) -> None:
        found = [(one, _progress(one)) for one in EmbeddingSpace.objects.order_by("pk")]
        if options["json"]:
            self.stdout.write(json.dumps([_as_dict(*pair) for pair in found], indent=2))
            return
        for pair in found:
            self.stdout.write(_sentence(*pair))
        wanted = wanted_spec()
        if found and wanted and not any(is_of(space, wanted) for space, _ in found):
            self.stdout.write(
                f"The variables name {wanted.model} with {wanted.dimensions} dimensions, which is none"
                " of these: `create` makes a space for it."
            )


def _named(parser: ArgumentParser) -> ArgumentParser:
    parser.add_argument("space", help="its key, or how it begins; see `list`")
    return parser


def _add_create(parser: ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="`local`, or the name of a model")
    parser.add_argument("--dimensions", type=int, default=0, help="length of its vectors")
    parser.add_argument("--query-prefix", default="", help="put before each question")
    parser.add_argument("--passage-prefix", default="", help="put before each passage")
    parser.add_argument("--base-url", default="", help="its server, where not OPENAI_BASE_URL")
    parser.add_argument(
        "--no-dimensions-parameter",
        action="store_true",
        help="for servers that refuse to be told the dimensions",
    )


def _add_compare(parser: ArgumentParser) -> None:
    parser.add_argument("--organization", help="slug; without it, every organization")
    parser.add_argument("--last", type=int, default=LAST, help="how many questions")
    parser.add_argument("--json", action="store_true", help="as JSON")


def _spec(options: dict[str, Any]) -> SpaceSpec:
    if options["model"] == LOCAL:
        return LOCAL_SPACE
    return SpaceSpec(
        provider=OPENAI,
        model=options["model"],
        dimensions=options["dimensions"],
        query_prefix=options["query_prefix"],
        passage_prefix=options["passage_prefix"],
    )


def _organizations(slug: str | None) -> list[Organization]:
    found = Organization.objects.order_by("pk")
    if slug is not None and not found.filter(slug=slug).exists():
        raise CommandError(f"There is no organization {slug}.")
    return list(found if slug is None else found.filter(slug=slug))


def _progress(space: EmbeddingSpace) -> list[Progress]:
    return progress(space, Organization.objects.order_by("pk"))


def _as_dict(space: EmbeddingSpace, found: Sequence[Progress]) -> dict[str, Any]:
    return {
        "key": space.key,
        "status": space.status,
        "dimensions": space.dimensions,
        "organizations": [one.as_dict() for one in found],
    }


def _sentence(space: EmbeddingSpace, found: Sequence[Progress]) -> str:
    assets, missing = sum(one.assets for one in found), sum(one.missing for one in found)
    failed = sum(one.failed for one in found)
    failures = f", {failed} failed" if failed else ""
    return f"{space.key} ({space.status}): {assets - missing} of {assets} rows filled{failures}"


def _told(told: Comparison) -> str:
    found = told.as_dict()
    lines = [
        f"{found['questions']} questions: {found['same_top']:.1%} with the same first result,"
        f" overlap of the first five {found['overlap_at_5']:.3f}"
    ]
    for name in ("now", "then"):
        side = found[name]
        lines.append(
            f"  {name:5} {side['space']}: no match {side['no_match']:.1%},"
            f" embedding {side['embed_ms']['p50']} ms (p95 {side['embed_ms']['p95']}),"
            f" search {side['search_ms']['p50']} ms (p95 {side['search_ms']['p95']})"
        )
    for name in ("gained", "lost"):
        lines += [f"  {name:6} {one['times']} times: {one['title']}" for one in found[name]]
    return "\n".join(lines)


def _now() -> datetime:
    return datetime.now(tz=UTC)  # noqa: TID251 - this is a door
