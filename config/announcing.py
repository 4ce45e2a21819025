"""What `make run` tells the person who started it."""

from __future__ import annotations

import json
import sys
from typing import Any, Final
from urllib.error import URLError
from urllib.request import Request, urlopen

_API: Final = "/internal/voice/v1"
_SECONDS: Final = 20


def first_answer(facts: dict[str, Any]) -> dict[str, Any]:
    """Ask the demo's first question over HTTP, as a voice runtime would; empty when it fails."""
    examples = facts.get("examples", [])
    if not examples:
        return {}
    try:
        session = _post(
            facts,
            "/sessions",
            {"organization": facts["organization"], "agent": examples[0]["agent"]},
        )
        return _post(facts, f"/sessions/{session['session']}/tools/knowledge-search", {})
    except (URLError, OSError, KeyError, ValueError):
        return {}


def announce(facts: dict[str, Any], answer: dict[str, Any], seconds: float) -> None:
    """Print addresses, login and commands to paste."""
    lines = [
        "",
        f"Earmark   {facts['url']}",
        f"Admin     {facts['admin_url']}   {facts.get('admin_user')} / {facts.get('admin_password')}",
        f"First answer after {seconds:.1f} s" if answer else f"Started in {seconds:.1f} s",
        "",
        "All of this is in .earmark/run.json. Ctrl-C stops everything.",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _post(facts: dict[str, Any], path: str, body: dict[str, Any]) -> dict[str, Any]:
    request = Request(  # noqa: S310 - our own address
        f"{facts['url']}{_API}{path}",
        data=json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {facts['service_key']}",
            "Content-Type": "application/json",
            "X-Earmark-Contract": "1",
        },
    )
    with urlopen(request, timeout=_SECONDS) as response:  # noqa: S310
        found: dict[str, Any] = json.load(response)
    return found
