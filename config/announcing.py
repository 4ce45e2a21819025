"""What `make run` tells the person who started it: addresses, login, and two questions to paste."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.error import URLError
from urllib.request import Request, urlopen

from config.private import ROOT

Say = Callable[[str], None]
Facts = dict[str, Any]
_API: Final = "/internal/voice/v1"
_SECONDS: Final = 20
_CALL: Final = "make-run"


@dataclass(frozen=True)
class Asked:
    """One question of the demo, asked over HTTP: how to ask it again and what came back."""

    curl: str
    answer: Facts

    @property
    def outcome(self) -> str:
        """What came back, in a few words."""
        titles = [str(result["title"]) for result in self.answer["results"]]
        return f"{self.answer['status']}: {titles[0]}" if titles else str(self.answer["status"])


def greet(facts: Facts, say: Say) -> None:
    """Say where everything is."""
    say(f"\nEarmark  {facts['url']}")
    login = f"{facts.get('admin_user', '')}  {facts.get('admin_password', '')}".strip()
    say(f"Admin    {facts['admin_url']}  {login}")


def show_questions(facts: Facts, say: Say, elapsed: Callable[[], float]) -> None:
    """Ask the demo's two show questions as a voice runtime would, and say how to ask them again."""
    world = json.loads((ROOT / "demo/world.json").read_text("utf-8"))
    by_id = {q["id"]: q for group in world["questions"].values() for q in group}
    try:
        answered = _ask(facts, by_id[world["showcase"]["answered"]])
        seconds = elapsed()
        refused = _ask(facts, by_id[world["showcase"]["refused"]])
    except (URLError, OSError, KeyError, ValueError) as error:
        say(f"\nThe first question was not answered ({error}). See .earmark/web.log.")
        return
    say(f"First answer after {seconds:.1f} s.")
    say(f"\nA question the agent may answer ({answered.outcome}):\n\n{answered.curl}")
    say(f"\nOne that is outside its scope ({refused.outcome}):\n\n{refused.curl}")


def _ask(facts: Facts, question: Facts) -> Asked:
    who = {"organization": facts["organization"], "agent": question["agent"]}
    call = {"id": _CALL, "channel": question["channel"], "country": question["country"]}
    contact = {"contact": {"external_id": question["contact"]}} if question["contact"] else {}
    session = _post(facts, "/sessions", {**who, "call": call, **contact})["session"]
    path, body = (
        f"/sessions/{session}/tools/knowledge-search",
        {**who, "queries": question["queries"]},
    )
    return Asked(_curl(facts, path, body), _post(facts, path, body))


def _headers(facts: Facts) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {facts['service_key']}",
        "X-Earmark-Contract": "1",
        "Content-Type": "application/json",
    }


def _curl(facts: Facts, path: str, body: Facts) -> str:
    headers = [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in _headers(facts).items()]
    data = f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}"
    return " \\\n  ".join([f"curl -s {facts['url']}{_API}{path}", *headers, data])


def _post(facts: Facts, path: str, body: Facts) -> Facts:
    request = Request(  # noqa: S310 - our own address
        f"{facts['url']}{_API}{path}", data=json.dumps(body).encode(), headers=_headers(facts)
    )
    with urlopen(request, timeout=_SECONDS) as response:  # noqa: S310 - our own address
        found: Facts = json.load(response)
    return found
