"""One scripted call through the real SDK: a turn at a time, each with its own timings."""

import asyncio
import json
import time
from dataclasses import dataclass, field

from livekit.agents import AgentSession

from earmark_worker.events import (
    SearchFinished,
    SpeculationStarted,
    SpeculationUsed,
    SpeculationWasted,
)
from earmark_worker.livekit import EarmarkAgent
from lead.timings import Timings
from tests.fakes.backend import a_conversation, a_reply
from tests.fakes.livekit_fakes import (
    CapturingTTS,
    FakeMicrophone,
    Loudspeaker,
    ManualSTT,
    ManualVAD,
    ScriptedLLM,
    call,
    text,
)

_LONGEST_TURN = 20.0


@dataclass
class Measured:
    """What one turn showed.

    Units: milliseconds; `lead` is how long the result had been ready when the tool was
    authorised, negative while the caller still waited for it, None when no search was made.
    """

    lead: float | None = None
    waited: float | None = None
    won: float = 0.0
    search: float = 0.0
    started: int = 0
    used: int = 0
    wasted: int = 0
    searches: int = 0


@dataclass
class TimedBackend:
    """Answers after the turn's search time."""

    delays: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    number: int = 0

    async def search(self, session, request):
        self.number += 1
        delay = self.delays.pop(0) if self.delays else 0.3
        began = time.monotonic()
        try:
            await asyncio.sleep(delay)
        finally:
            self.took.append(time.monotonic() - began)
        return a_reply(search=f"r-{self.number}")

    async def end(self, session, request):
        return None


class ScriptedTurnDetector:
    """Is as sure of the end of a turn as the script says."""

    model = provider = "scripted"

    def __init__(self) -> None:
        self.sure = True

    async def unlikely_threshold(self, language) -> float:
        return 0.5

    async def supports_language(self, language) -> bool:
        return True

    async def predict_end_of_turn(self, chat_ctx, *, timeout=None) -> float:
        await asyncio.sleep(0.03)
        return 0.9 if self.sure else 0.1


class Caller:
    """Speaks the turns of one call and measures each."""

    def __init__(self, *, preemptive: bool) -> None:
        self._preemptive = preemptive
        self._backend = TimedBackend()
        self._model_delays: list[float] = []
        self._turn = Measured()
        self._calls = 0
        self._detector = ScriptedTurnDetector()

    async def talk(self, turns: list[Timings]) -> list[Measured]:
        """The measurements of the turns, in order."""
        conversation, _, _ = a_conversation(self._backend)
        conversation.announcer.listen(self._note)
        agent = EarmarkAgent(conversation)
        session, stt, vad = self._session(agent)
        await session.start(agent)
        await asyncio.sleep(0.2)
        measured = [await self._one(session, stt, vad, timings) for timings in turns]
        await session.aclose()
        return measured

    def _session(self, agent):
        options = agent.session_options()
        handling = {
            **options["turn_handling"],
            "turn_detection": self._detector,
            "endpointing": {"mode": "fixed", "min_delay": 0.5, "max_delay": 3.0},
            "interruption": {"mode": "vad"},
        }
        if not self._preemptive:
            handling["preemptive_generation"] = {"enabled": False}
        stt, vad = ManualSTT(), ManualVAD()
        session = AgentSession(
            llm=ScriptedLLM(default=self._script),
            stt=stt,
            vad=vad,
            tts=CapturingTTS(),
            turn_handling=handling,
            tts_text_transforms=options["tts_text_transforms"],
        )
        session.input.audio, session.output.audio = FakeMicrophone(), Loudspeaker()
        return session, stt, vad

    def _script(self, asked):
        newest = [i for i in asked.chat_ctx.items if getattr(i, "role", "") != "system"][-1]
        if newest.type != "message":
            return [text("Here is what I found.")]
        delay = self._model_delays.pop(0) if self._model_delays else 0.45
        self._calls += 1
        arguments = json.dumps({"queries": [newest.text_content]}, ensure_ascii=False)
        return [call("search_knowledge", arguments, id=f"c{self._calls}", after=delay)]

    async def _one(self, session, stt, vad, timings):
        self._turn = measured = Measured()
        self._backend.delays, self._backend.took = list(timings.search), []
        self._model_delays = list(timings.model)
        self._detector.sure = timings.sure_of_the_end
        before = len(session.history.items)
        await self._speak(stt, vad, timings)
        await self._answered(session, before)
        measured.search = 1000 * (self._backend.took[-1] if self._backend.took else 0)
        return measured

    async def _speak(self, stt, vad, timings):
        vad.start()
        finals = []
        for said, seconds in zip(timings.stretches, timings.speaking, strict=True):
            await asyncio.sleep(seconds)
            vad.keep_speaking()
            finals.append(asyncio.create_task(self._transcribe(stt, said, timings)))
        await asyncio.sleep(timings.silence_to_notice)
        await asyncio.gather(*finals)
        vad.stop(silence=timings.silence_to_notice)

    async def _transcribe(self, stt, said, timings):
        await asyncio.sleep(timings.transcript_delay)
        stt.final(said)

    async def _answered(self, session, before):
        deadline = time.monotonic() + _LONGEST_TURN
        while time.monotonic() < deadline:
            new = session.history.items[before:]
            if any(i.type == "message" and i.role == "assistant" for i in new):
                await asyncio.sleep(0.3)
                return
            await asyncio.sleep(0.02)

    def _note(self, event):
        turn = self._turn
        if isinstance(event, SpeculationStarted):
            turn.started += 1
        elif isinstance(event, SpeculationWasted):
            turn.wasted += 1
        elif isinstance(event, SpeculationUsed):
            turn.used += 1
            turn.won = event.won_ms
            turn.lead = event.ready_before_ms
        elif isinstance(event, SearchFinished):
            turn.searches += 1
            turn.waited = event.waited_ms
            if not turn.lead:
                turn.lead = -event.waited_ms
