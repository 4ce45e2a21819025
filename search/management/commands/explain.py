"""`manage.py explain ID --agent acme/front-desk`: every gate's verdict on one row."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from search.as_agent import exact_target, search_as, why
from search.management.arguments import add_call_arguments, agent_and_call
from search.telling import index_words, told_gates


class Command(BaseCommand):
    """Say why a row is or is not among what an agent may say."""

    help = "Show every gate's verdict on an instruction or item, named by its id or external id."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take a row and a call."""
        parser.add_argument("row", help="the id or external id of an instruction or item")
        add_call_arguments(parser)
        parser.add_argument("--query", default="", help="also say where it comes in this search")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print the gates."""
        agent, call = agent_and_call(options, timezone.now())
        target = exact_target(agent, options["row"])
        if target is None:
            raise CommandError(f"There is no instruction or item {options['row']}.")
        query = options["query"]
        asked = search_as(agent, (query,), call, limit=5) if query else None
        reason = why(agent, target, call, asked)
        gates = told_gates(agent, reason, call)
        if options["json"]:
            told = {
                "id": str(target.id),
                "title": target.title,
                "kept_out_by": reason.kept_out_by,
                "gates": [vars(gate) for gate in gates],
                "place": reason.place,
            }
            self.stdout.write(json.dumps(told, ensure_ascii=False))
            return
        verdict = "may not be said" if reason.kept_out_by else "may be said"
        self.stdout.write(f"{target.title}  [{target.category} {target.id}]: {verdict}")
        for gate in gates:
            mark = "yes" if gate.passes else "NO "
            self.stdout.write(f"  {mark} {gate.name:34} {gate.row}  |  {gate.call}".rstrip(" |"))
        for line in (index_words(agent, reason), reason.place):
            if line:
                self.stdout.write(line)
