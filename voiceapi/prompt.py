"""Put a prompt together; no knowledge and no instruction enters it but what was asked for by id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenants.models import PhoneAgent
from voiceapi.dynamic import AddedInstruction


@dataclass(frozen=True)
class Parts:
    """What stands in a prompt after the agent's base instructions.

    `rules` are the published domain rules that apply to the agent.
    """

    rules: Sequence[str] = ()
    instructions: Sequence[AddedInstruction] = ()
    additions: Sequence[str] = ()


def assemble(agent: PhoneAgent, parts: Parts) -> str:
    """Return base instructions, rules, dynamic instructions and additions, in this order."""
    return "\n\n".join(text for text in _texts(agent, parts) if text)


def _texts(agent: PhoneAgent, parts: Parts) -> Iterator[str]:
    yield agent.base_instructions.strip()
    yield from (rule.strip() for rule in parts.rules)
    for instruction in parts.instructions:
        yield f"## {instruction.title}\n\n{instruction.body.strip()}"
    yield from (addition.strip() for addition in parts.additions)
