"""Print the search tool as chat completion APIs take function tools."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand

from voiceapi.peers.functions import function_tool


class Command(BaseCommand):
    """`tool`."""

    help = "Print the tool search_knowledge in the shape of a function tool, as JSON."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Print it."""
        self.stdout.write(json.dumps(function_tool(), ensure_ascii=False, indent=2))
