from tests.fakes.livekit_fakes import text
from tests.livekit.harness import a_line, until


async def test_the_voice_gets_speakable_text_and_the_transcript_keeps_the_written_one():
    chunks = [text("**Call** 555"), text("12"), text("34, F"), text("AQ is free: 5"), text("%.")]
    async with a_line(chunks) as line:
        await line.say("hello")
        await until(lambda: line.answers, what="the answer")
        await until(lambda: "percent" in line.tts.said, what="the voice")
    assert line.tts.said == "Call 5 5 5, 1 2 3 4, F A Q is free: 5 percent."
    assert "".join(line.screen.shown).startswith("**Call** 5551234, FAQ is free: 5%.")
    assert line.answers == ["**Call** 5551234, FAQ is free: 5%."]
