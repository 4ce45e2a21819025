"""A spoken question in, a spoken answer out, without a network.

The caller's voice is made here, played into a LiveKit session with voice activity detection,
transcribed, searched for, answered and spoken. With `EARMARK_URL` and the other settings the
search goes to that server; without, to a stand-in on loopback that speaks the contract.
"""

import asyncio
import json
import os
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from livekit.agents import AgentSession, inference, stt

from earmark_worker.adapters.livekit.scripted import ScriptedLLM
from earmark_worker.events import Ledger
from earmark_worker.livekit import Call, CallDetails, EarmarkAgent, Settings
from roundtrip.ears import WhisperSTT
from roundtrip.line import FileMicrophone, Recorder
from roundtrip.voice import PiperTTS, spoken

QUESTION = os.environ.get("EARMARK_QUESTION", "How long does a refund take to arrive on my card?")
ANSWER = "A refund arrives within 5-7 working days. Call 800 123 4567 if it does not."
ARTEFACTS = Path("artefacts/roundtrip")
RATE = 22_050
PATIENCE = 60.0


async def roundtrip(settings: Settings) -> dict:
    """Take the call; gives the evidence."""
    ledger, events, ears, microphone, recorder = (
        Ledger(),
        [],
        WhisperSTT(),
        FileMicrophone(),
        Recorder(RATE),
    )
    call = CallDetails(
        Call(id="roundtrip", language="en", country="AE"), contact=os.environ.get("EARMARK_CONTACT")
    )
    agent = await EarmarkAgent.open(
        call, settings=settings, listeners=(ledger, lambda e: events.append(repr(e)))
    )
    vad, voice = inference.VAD(model="silero"), PiperTTS(RATE)
    options = agent.session_options()
    handling = {**options["turn_handling"], "turn_detection": "vad"}
    session = AgentSession(
        stt=stt.StreamAdapter(stt=ears, vad=vad),
        vad=vad,
        llm=ScriptedLLM(),
        tts=voice,
        turn_handling=handling,
        tts_text_transforms=options["tts_text_transforms"],
    )
    session.input.audio, session.output.audio = microphone, recorder
    tools: list[dict] = []
    session.on("function_tools_executed", lambda ev: tools.extend(_evidence(ev)))
    await session.start(agent)
    question = await spoken(QUESTION)
    question.save(ARTEFACTS / "caller.wav")
    microphone.play(question)
    began = time.monotonic()
    await _answered(session, recorder)
    took = time.monotonic() - began
    await session.aclose()
    recorder.sound.save(ARTEFACTS / "agent.wav")
    return {
        "asked": QUESTION,
        "heard": ears.transcripts,
        "tools": tools,
        "answer": [
            i.text_content for i in session.history.items if getattr(i, "role", "") == "assistant"
        ],
        "spoken": voice.texts,
        "heard_back": await ears.hear(recorder.sound),
        "events": events,
        "seconds": round(took, 1),
        "searches": ledger.searches,
    }


async def _answered(session, recorder) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        await asyncio.sleep(0.1)
        if recorder.recorded and session.current_speech is None:
            return
    raise TimeoutError("no answer was spoken")


def _evidence(event):
    for call, output in event.zipped():
        yield {
            "tool": call.name,
            "arguments": call.arguments,
            "output": output.output if output else None,
        }


@asynccontextmanager
async def stand_in():
    """A server on loopback that opens a session and finds one passage."""
    result = {
        "type": "knowledge",
        "id": "i-1",
        "chunk": 0,
        "title": "Refunds",
        "content": ANSWER,
        "url": None,
        "valid_until": None,
    }
    found = {
        "status": "ok",
        "search": "r-1",
        "digest": "sha256:" + "0" * 64,
        "degraded": [],
        "guidance": None,
        "results": [result],
    }
    parameters = {
        "type": "object",
        "properties": {"queries": {"type": "array", "items": {"type": "string"}}},
        "required": ["queries"],
    }
    opened = {
        "session": "s-1",
        "expires_at": "2030-01-01T00:00:00Z",
        "contract": {"version": 1, "hash": "sha256:" + "0" * 64},
        "prompt": "You answer for Acme.",
        "fallback": "",
        "deadline_ms": 5500,
        "code_patterns": [],
        "scope": {},
        "tools": [
            {"name": "search_knowledge", "description": "Search first.", "parameters": parameters}
        ],
    }
    app = web.Application()
    base = "/internal/voice/v1/sessions"
    app.router.add_post(base, lambda _r: _json(opened, 201))
    app.router.add_post(f"{base}/s-1/tools/knowledge-search", lambda _r: _json(found, 200))
    app.router.add_post(
        f"{base}/s-1/end",
        lambda _r: _json({"session": "s-1", "ended_at": opened["expires_at"]}, 200),
    )
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield Settings(
            f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}",
            "k.s",
            "acme",
            "front-desk",
        )
    finally:
        await runner.cleanup()


async def _json(body, status):
    return web.json_response(body, status=status)


async def main() -> int:
    """Run the round trip, keep the artefacts, say what happened."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    if os.environ.get("EARMARK_URL"):
        evidence = await roundtrip(Settings.read(os.environ))
    else:
        async with stand_in() as settings:
            evidence = await roundtrip(settings)
    (ARTEFACTS / "evidence.json").write_text(json.dumps(evidence, indent=2, ensure_ascii=False))
    print(json.dumps(evidence, indent=2, ensure_ascii=False))
    searched = evidence["tools"] and evidence["tools"][0]["tool"] == "search_knowledge"
    return 0 if searched and evidence["heard"] and evidence["heard_back"] else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
