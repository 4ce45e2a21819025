import asyncio
import json
import time
from contextlib import asynccontextmanager

from livekit.agents import AgentSession

from earmark_worker.livekit import EarmarkAgent
from tests.fakes.backend import FakeBackend, a_conversation
from tests.fakes.livekit_fakes import (
    CapturingTTS,
    FakeMicrophone,
    Loudspeaker,
    ManualSTT,
    ManualVAD,
    Screen,
    ScriptedLLM,
)

ENDPOINTING = {"mode": "fixed", "min_delay": 0.25, "max_delay": 0.4}


def queries(*texts):
    return json.dumps({"queries": list(texts)})


async def until(condition, *, seconds=8.0, what="the condition"):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited too long for {what}")
        await asyncio.sleep(0.005)


class Line:
    """A telephone line into a real AgentSession, with everything around it scripted."""

    def __init__(self, session, agent, *, backend, ledger, events, stt, vad, tts, screen, model):
        self.session, self.agent, self.backend = session, agent, backend
        self.ledger, self.events = ledger, events
        self.stt, self.vad, self.tts, self.screen, self.model = stt, vad, tts, screen, model
        self.executed = []
        self.handles = []
        session.on("function_tools_executed", self.executed.append)
        session.on("speech_created", lambda ev: self.handles.append(ev.speech_handle))

    @property
    def history(self):
        return self.session.history.items

    @property
    def caller_messages(self):
        return [i.text_content for i in self.history if i.type == "message" and i.role == "user"]

    @property
    def outputs(self):
        return [i.output for i in self.history if i.type == "function_call_output"]

    @property
    def answers(self):
        return [
            i.text_content for i in self.history if i.type == "message" and i.role == "assistant"
        ]

    def start_speaking(self):
        self.vad.start()

    def stop_speaking(self):
        self.vad.stop()

    async def say(self, text):
        self.start_speaking()
        await asyncio.sleep(0.05)
        self.stt.final(text)
        await asyncio.sleep(0.02)
        self.stop_speaking()


@asynccontextmanager
async def a_line(
    *scripts, backend=None, agent_class=EarmarkAgent, speaker=None, options=None, agent=None, **more
):
    backend = backend or FakeBackend()
    conversation, ledger, events = a_conversation(backend)
    agent = agent or agent_class(conversation, **more)
    stt, vad, tts, screen = ManualSTT(), ManualVAD(), CapturingTTS(), Screen()
    model = ScriptedLLM(*scripts)
    chosen = agent.session_options() if hasattr(agent, "session_options") else {}
    handling = {
        **chosen.get("turn_handling", {}),
        "endpointing": ENDPOINTING,
        "turn_detection": "vad",
    }
    handling["interruption"] = {
        "mode": "vad",
        "min_duration": 0.1,
        "resume_false_interruption": False,
    }
    handling = {**handling, **(options or {})}
    session = AgentSession(
        llm=model,
        stt=stt,
        vad=vad,
        tts=tts,
        turn_handling=handling,
        tts_text_transforms=chosen.get("tts_text_transforms"),
    )
    session.input.audio = FakeMicrophone()
    session.output.audio = speaker or Loudspeaker()
    session.output.transcription = screen
    line = Line(
        session,
        agent,
        backend=backend,
        ledger=ledger,
        events=events,
        stt=stt,
        vad=vad,
        tts=tts,
        screen=screen,
        model=model,
    )
    await session.start(agent)
    await until(lambda: stt.streams and vad.streams, what="audio recognition")
    try:
        yield line
    finally:
        await session.aclose()


@asynccontextmanager
async def a_text_line(*scripts, backend=None, agent_class=EarmarkAgent, agent=None, **more):
    backend = backend or FakeBackend()
    conversation, ledger, events = a_conversation(backend)
    agent = agent or agent_class(conversation, **more)
    model = ScriptedLLM(*scripts)
    session = AgentSession(llm=model, vad=None, turn_handling={"turn_detection": "manual"})
    await session.start(agent)
    line = Line(
        session,
        agent,
        backend=backend,
        ledger=ledger,
        events=events,
        stt=None,
        vad=None,
        tts=None,
        screen=None,
        model=model,
    )
    try:
        yield line
    finally:
        await session.aclose()
