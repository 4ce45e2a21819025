import asyncio
import time

from tests.fakes.backend import FakeBackend
from tests.fakes.livekit_fakes import Loudspeaker, call, text
from tests.livekit.harness import a_line, queries, until

SEARCH = [call("search_knowledge", queries("refund"))]


async def test_a_caller_who_speaks_during_a_slow_search_is_not_kept_waiting():
    backend = FakeBackend(delay=4)
    second = [call("search_knowledge", queries("card"), id="call-2")]
    scripts = (SEARCH, second, [text("Your card is on its way.")])
    async with a_line(*scripts, backend=backend) as line:
        await line.say("I want a refund")
        await until(lambda: line.caller_messages, what="the first turn")
        await asyncio.sleep(0.1)
        backend.delay = 0
        started = time.monotonic()
        line.start_speaking()
        for _ in range(5):
            line.vad.keep_speaking()
            await asyncio.sleep(0.05)
        line.stt.final("no, where is my card")
        line.stop_speaking()
        await until(lambda: len(line.caller_messages) == 2, what="the second turn")
        waited = time.monotonic() - started
        await until(lambda: line.answers, what="the answer")
    assert waited < 2
    assert backend.cancelled == 1
    assert line.ledger.interrupted == 1
    assert line.answers == ["Your card is on its way."]


async def test_an_interrupted_answer_keeps_what_the_search_found_for_the_next_one():
    second = [call("search_knowledge", queries("how long"), id="call-2")]
    scripts = (SEARCH, [text("Refunds take five days. " * 5)], second, [text("Five days.")])
    async with a_line(*scripts, speaker=Loudspeaker(hold=5)) as line:
        await line.say("I want a refund")
        await until(lambda: line.tts.heard, what="the voice")
        line.start_speaking()
        for _ in range(5):
            line.vad.keep_speaking()
            await asyncio.sleep(0.05)
        line.stt.final("how long exactly")
        line.stop_speaking()
        await until(lambda: len(line.backend.requests) == 2, what="the second search")
    assert line.backend.requests[1].follows == "r-1"
    assert line.backend.requests[1].adopted == ("r-1",)
