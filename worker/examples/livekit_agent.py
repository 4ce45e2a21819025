"""A LiveKit agent that answers from Earmark.

Typed, without LiveKit server or keys:   python examples/livekit_agent.py text
On a LiveKit server:                     python examples/livekit_agent.py dev

Set EARMARK_URL, EARMARK_SERVICE_KEY, EARMARK_ORGANIZATION and EARMARK_AGENT (`make run` of the
server prints them). With OPENAI_API_KEY, or OPENAI_BASE_URL for any server that speaks its API,
a real model answers; without, a scripted one searches and reads the best passage out.
"""

import asyncio
import os
import sys
from typing import Any

from livekit.agents import AgentServer, AgentSession, JobContext, cli, llm
from livekit.agents.voice.run_result import RunResult

from earmark_worker.adapters.livekit.scripted import ScriptedLLM
from earmark_worker.livekit import Call, CallDetails, EarmarkAgent

server = AgentServer()


@server.rtc_session()
async def answer(ctx: JobContext) -> None:
    """Take a call."""
    agent = await EarmarkAgent.open(CallDetails(Call(id=ctx.room.name, language="en")))
    session: AgentSession[None] = AgentSession(
        stt=os.environ.get("EARMARK_STT", "deepgram/nova-3"),
        llm=model(),
        tts=os.environ.get("EARMARK_TTS", "cartesia/sonic-3"),
        **agent.session_options(),
    )
    await session.start(agent, room=ctx.room)


def model() -> llm.LLM[Any]:
    """A real model when the environment names one, else the scripted one."""
    if not os.environ.get("OPENAI_API_KEY") and not os.environ.get("OPENAI_BASE_URL"):
        return ScriptedLLM()
    from livekit.plugins import openai

    return openai.LLM(
        model=os.environ.get("EARMARK_CHAT_MODEL", "gpt-4.1-mini"),
        api_key=os.environ.get("OPENAI_API_KEY", "none"),
        base_url=os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    )


async def type_to_it() -> None:
    """The same agent without audio: one line of input is one turn of the caller."""
    agent = await EarmarkAgent.open(CallDetails(Call(id="typed", language="en")))
    session: AgentSession[None] = AgentSession(
        llm=model(), vad=None, turn_handling={"turn_detection": "manual"}
    )
    async with session:
        await session.start(agent)
        while said := (await asyncio.to_thread(sys.stdin.readline)).strip():
            result: RunResult[Any] = await session.run(user_input=said)
            for event in result.events:
                print(event.item.type, getattr(event.item, "text_content", None) or "")
    await agent.conversation.end()


if __name__ == "__main__":
    if sys.argv[1:] == ["text"]:
        asyncio.run(type_to_it())
    else:
        cli.run_app(server)
