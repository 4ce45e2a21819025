"""The arguments that the commands `search` and `explain` share."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError

from search.as_agent import USUAL_CHANNEL, Call, agent_named, contact_of
from tenants.models import PhoneAgent


def add_call_arguments(parser: ArgumentParser) -> None:
    """Ask for an agent and a call."""
    parser.add_argument(
        "--agent", required=True, help="organization/agent, for example acme/front-desk"
    )
    parser.add_argument("--contact", default="", help="a contact's external id; left out: unknown")
    parser.add_argument("--channel", default=USUAL_CHANNEL)
    parser.add_argument("--country", default="", help="two letters; left out: unknown")
    parser.add_argument("--at", type=datetime.fromisoformat, help="an instant; left out: now")


def agent_and_call(options: dict[str, Any], now: datetime) -> tuple[PhoneAgent, Call]:
    """Return what the arguments name.

    Raises: CommandError
    """
    agent = agent_named(options["agent"])
    if agent is None:
        raise CommandError(f"There is no agent {options['agent']}.")
    contact = contact_of(agent, options["contact"]) if options["contact"] else None
    if options["contact"] and contact is None:
        raise CommandError(f"There is no contact {options['contact']}.")
    country = options["country"].upper()
    if country and not re.fullmatch(r"[A-Z]{2}", country):
        raise CommandError("A country is two letters.")
    at = options["at"] or now
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return agent, Call(contact, options["channel"], country or None, at)
