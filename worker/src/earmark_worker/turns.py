"""What was said and done so far in a call, as both adapters hand it to the core."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Speaker(StrEnum):
    """Who a turn comes from."""

    CALLER = "caller"
    AGENT = "agent"
    TOOL = "tool"
    SYSTEM = "system"


@dataclass(frozen=True)
class Turn:
    """One message, or the output of one tool (`tool` names it)."""

    speaker: Speaker
    text: str
    tool: str | None = None
    id: str = ""


@dataclass(frozen=True)
class TurnView:
    """The conversation up to now, oldest first; the newest caller turn may not be final yet."""

    turns: tuple[Turn, ...]

    @property
    def newest(self) -> Turn | None:
        """The newest turn that somebody in the call made (system messages do not count)."""
        spoken = (turn for turn in reversed(self.turns) if turn.speaker is not Speaker.SYSTEM)
        return next(spoken, None)

    @property
    def caller_texts(self) -> tuple[str, ...]:
        """Everything the caller said, oldest first, without empty turns."""
        return tuple(self._texts(Speaker.CALLER))

    @property
    def caller_turn(self) -> str:
        """A name for the caller's current turn that stays when a reply is generated again.

        Shape: made of what precedes the newest caller message, so that every transcript of the
        same turn shares it and the next turn never does.
        """
        for index in range(len(self.turns) - 1, -1, -1):
            if self.turns[index].speaker is Speaker.CALLER:
                before = self.turns[index - 1].id if index else ""
                return f"{index}:{before}"
        return "none"

    def _texts(self, speaker: Speaker) -> Iterator[str]:
        for turn in self.turns:
            if turn.speaker is speaker and turn.text.strip():
                yield turn.text
