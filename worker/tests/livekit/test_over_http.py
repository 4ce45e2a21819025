import asyncio

from livekit.agents import AgentSession

from earmark_worker.adapters.livekit.scripted import ScriptedLLM
from earmark_worker.events import Ledger
from earmark_worker.livekit import Call, CallDetails, EarmarkAgent, Settings
from tests.fakes.livekit_fakes import (
    CapturingTTS,
    FakeMicrophone,
    Loudspeaker,
    ManualSTT,
    ManualVAD,
)
from tests.fakes.voice_server import a_voice_server
from tests.livekit.harness import ENDPOINTING, until

DETAILS = CallDetails(Call(id="c-1", language="en", country="AE"), contact="crm-77")


async def _call(server, ledger):
    settings = Settings.read(server.environment)
    agent = await EarmarkAgent.open(DETAILS, settings=settings, listeners=(ledger,))
    options = agent.session_options()
    handling = {**options["turn_handling"], "turn_detection": "vad", "endpointing": ENDPOINTING}
    handling["interruption"] = {"mode": "vad", "min_duration": 0.1}
    stt, vad = ManualSTT(), ManualVAD()
    session = AgentSession(
        llm=ScriptedLLM(), stt=stt, vad=vad, tts=CapturingTTS(), turn_handling=handling
    )
    session.input.audio, session.output.audio = FakeMicrophone(), Loudspeaker()
    await session.start(agent)
    await until(lambda: stt.streams and vad.streams, what="audio recognition")
    return session, stt, vad


async def test_a_call_over_http_from_opening_to_end():
    ledger = Ledger()
    async with a_voice_server() as server:
        session, stt, vad = await _call(server, ledger)
        vad.start()
        stt.final("I want a refund")
        await until(lambda: server.searches, what="the early search")
        vad.stop()
        await until(lambda: ledger.searches == 1, what="the search")
        await session.aclose()
        await until(lambda: server.ended, what="the end")
    assert server.opened[0]["contact"] == {"external_id": "crm-77"}
    assert len(server.searches) == 1
    assert server.searches[0]["speculative"] is True
    assert server.searches[0]["turn_context"]["call"]["country"] == "AE"
    assert server.ended[0]["adopted"] == ["r-1"]


async def test_a_caller_who_interrupts_closes_the_request_on_the_server_too():
    ledger = Ledger()
    async with a_voice_server(delay=30) as server:
        session, stt, vad = await _call(server, ledger)
        vad.start()
        stt.final("I want a refund")
        vad.stop()
        await until(lambda: session.history.messages(), what="the turn")
        await asyncio.sleep(0.1)
        vad.start()
        for _ in range(5):
            vad.keep_speaking()
            await asyncio.sleep(0.05)
        stt.final("no, wait, something else")
        vad.stop()
        await until(lambda: server.dropped >= 1, what="the request to be closed")
        await until(lambda: ledger.interrupted >= 1, what="the interrupted search")
        interrupted = ledger.interrupted
        # A slow machine may begin the second turn's search before the call ends; its end is not a barge-in.
        await session.aclose()
    assert interrupted == 1
