import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from earmark_worker.conversation import Conversation
from earmark_worker.events import Ledger
from earmark_worker.sending import Principal
from earmark_worker.turns import Speaker, Turn, TurnView
from earmark_worker.wire import ContractName, Result, SearchReply, Session, Tool

QUERIES_SCHEMA = {
    "type": "object",
    "properties": {
        "queries": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": 4,
        }
    },
    "required": ["queries"],
    "additionalProperties": False,
}


def an_open_session(**changes):
    fields = {
        "session": "s-1",
        "expires_at": datetime(2026, 1, 1, tzinfo=UTC),
        "contract": ContractName(version=1, hash="sha256:0"),
        "prompt": "You answer for Acme.",
        "tools": (
            Tool(name="search_knowledge", description="Search first.", parameters=QUERIES_SCHEMA),
        ),
        "fallback": "Offer a callback.",
        "code_patterns": (),
    }
    return Session(**{**fields, **changes})


def a_reply(search="r-1", status="ok", ids=("i-1",), **changes):
    results = tuple(
        Result(type="knowledge", id=name, title="Refunds", content="Refunds take 5 days.")
        for name in ids
    )
    return SearchReply(status=status, search=search, results=results, **changes)


class FakeBackend:
    def __init__(self, delay: float = 0.0, reply: Callable[[int], SearchReply] | None = None):
        self.delay = delay
        self.requests = []
        self.ended = []
        self.cancelled = 0
        self.answered = 0
        self.release: asyncio.Event | None = None
        self._reply = reply or (lambda number: a_reply(search=f"r-{number}"))

    async def search(self, session, request):
        self.requests.append(request)
        number = len(self.requests)
        try:
            if self.release is not None:
                await self.release.wait()
            await asyncio.sleep(self.delay)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.answered += 1
        return self._reply(number)

    async def end(self, session, request):
        self.ended.append(request)


def a_conversation(backend=None, *, call=None, session=None, clock=None):
    ledger = Ledger()
    events = []
    conversation = Conversation(
        backend or FakeBackend(),
        session or an_open_session(),
        Principal("acme", "front-desk", call or {"country": "AE", "language": "en"}),
        listeners=(ledger, events.append),
        **({"clock": clock} if clock else {}),
    )
    return conversation, ledger, events


def view_of(*turns: str) -> TurnView:
    speakers = {"c": Speaker.CALLER, "a": Speaker.AGENT, "t": Speaker.TOOL, "s": Speaker.SYSTEM}
    made = []
    for index, turn in enumerate(turns):
        kind, text = turn.split(":", 1)
        made.append(Turn(speakers[kind], text, id=f"m{index}"))
    return TurnView(tuple(made))
