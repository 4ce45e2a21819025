"""Serve one agent's search to a Model Context Protocol client, over standard input and output."""

from __future__ import annotations

from typing import Any

import anyio
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from tenants.keys import KeyRefused, verify_key
from voiceapi.errors import NotFound
from voiceapi.peers.asking import named_by
from voiceapi.peers.mcp_server import CHANNEL, Desk, note_of, serve


class Command(BaseCommand):
    """`mcp --agent acme/front-desk`, with the key in EARMARK_SERVICE_KEY."""

    help = "A Model Context Protocol server with the tool search_knowledge, for one agent."

    def add_arguments(self, parser: CommandParser) -> None:
        """Ask for the agent, and for what is known of who will ask."""
        parser.add_argument("--agent", required=True, help="organization/agent")
        parser.add_argument("--channel", default=CHANNEL)
        parser.add_argument("--contact", help="External id of the contact; without it, unknown.")
        parser.add_argument("--country", default="", help="Two letters; without it, unknown.")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Serve until the client goes away; a key or agent that is not there ends it at once."""
        token = settings.SERVICE_KEY or ""
        try:
            named = named_by(options["agent"])
            verify_key(token.encode("utf-8", "replace"), at=timezone.now())
        except (NotFound, KeyRefused) as error:
            raise CommandError(str(error)) from error
        note = note_of(
            channel=options["channel"],
            contact=options["contact"],
            country=options["country"].upper(),
        )
        anyio.run(serve, Desk(token, named, note, timezone.now))
