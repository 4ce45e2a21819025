import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.fakes.openai_server import an_openai_server
from tests.fakes.voice_server import a_voice_server
from tests.livekit.harness import queries

EXAMPLES = Path(__file__).parents[2] / "examples"
RUNS = [("livekit_agent.py", ["text"]), ("pipecat_bot.py", [])]


async def _run(name, arguments, environment):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI")}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLES / name),
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**inherited, **environment},
    )
    out, err = await asyncio.wait_for(process.communicate(b"I want a refund\n\n"), 50)
    assert process.returncode == 0, err.decode()[-2000:]
    return out.decode()


@pytest.mark.parametrize(("name", "arguments"), RUNS)
async def test_an_example_answers_with_the_scripted_model(name, arguments):
    async with a_voice_server() as server:
        said = await _run(name, arguments, server.environment)
    assert "Refunds take 5 days." in said
    assert len(server.searches) == 1
    assert len(server.ended) == 1


@pytest.mark.parametrize(("name", "arguments"), RUNS)
async def test_an_example_answers_with_an_openai_compatible_model(name, arguments):
    calls = {"calls": [("search_knowledge", queries("refund"))]}
    async with a_voice_server() as server, an_openai_server(calls, {"text": "Five days."}) as model:
        environment = {**server.environment, "OPENAI_BASE_URL": model.url}
        said = await _run(name, arguments, environment)
    assert "Five days." in said
    assert len(server.searches) == 1
