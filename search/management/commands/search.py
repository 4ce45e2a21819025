"""`manage.py search "…" --agent acme/front-desk`: what a caller would hear, and why."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from scopes.asking import Asked
from search.as_agent import search_as
from search.forms import MOST_QUERIES
from search.management.arguments import add_call_arguments, agent_and_call
from search.telling import as_json, shown


class Command(BaseCommand):
    """Ask as an agent is asked."""

    help = "Show what an agent would find for a question, with ranks and timings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take one to four queries and a call."""
        parser.add_argument("query", nargs="+", help="the question; up to four ways of asking it")
        add_call_arguments(parser)
        parser.add_argument("--limit", type=int, default=5)
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print the answer."""
        if len(options["query"]) > MOST_QUERIES:
            raise CommandError(f"At most {MOST_QUERIES} queries.")
        agent, call = agent_and_call(options, timezone.now())
        asked = search_as(agent, tuple(options["query"]), call, limit=options["limit"])
        if options["json"]:
            self.stdout.write(json.dumps(as_json(asked), ensure_ascii=False, default=str))
        else:
            self._tell(asked)

    def _tell(self, asked: Asked) -> None:
        answer = asked.answer
        self.stdout.write(f"{answer.status}  {answer.digest}")
        for line in (answer.guidance, *(f"degraded: {leg}" for leg in answer.degraded)):
            if line:
                self.stdout.write(line)
        for number, one in enumerate(shown(answer), start=1):
            self.stdout.write(
                f"\n{number}. {one.result.title}  [{one.result.type} {one.result.id}]"
            )
            if one.ranked:
                told = f"score {one.ranked.score:.3f}, relevance {one.ranked.relevance:.2f}"
                self.stdout.write(f"   {one.places}; {told}")
            self.stdout.write(f"   {one.result.content}")
        laps = ", ".join(f"{name} {value:g} ms" for name, value in answer.timings_ms.items())
        self.stdout.write(f"\n{laps}")
