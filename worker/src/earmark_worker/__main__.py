"""Commands: `preflight` asks a server whether it is ready, `console` types to an agent."""

import argparse
import asyncio
import os
import sys

from pydantic import ValidationError

from earmark_worker.client import VoiceClient
from earmark_worker.console.agent import ConsoleAgent, Exchange
from earmark_worker.console.models import model_from
from earmark_worker.errors import WorkerError
from earmark_worker.events import Ledger
from earmark_worker.opening import CallDetails, open_conversation
from earmark_worker.preflight import preflight
from earmark_worker.wire import Call


def main(arguments: list[str] | None = None) -> int:
    """Run a command; 0 when all is well, 1 with the reason on standard error when not."""
    options = _parser().parse_args(arguments)
    command = _preflight if options.command == "preflight" else _console
    try:
        asyncio.run(command(options))
    except WorkerError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except ValidationError as error:
        print(f"invalid_value: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        pass
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="earmark-worker")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("preflight", help="contract and readiness of the server")
    check.add_argument("--url", default=os.environ.get("EARMARK_URL", "http://127.0.0.1:8000"))
    typed = commands.add_parser("console", help="type to the agent that the environment names")
    typed.add_argument("--language", default=None)
    typed.add_argument("--country", default=None)
    typed.add_argument("--channel", default="phone")
    typed.add_argument("--contact", default=None)
    return parser


async def _preflight(options: argparse.Namespace) -> None:
    async with VoiceClient(options.url, key="") as client:
        for line in await preflight(client):
            print(line)


async def _console(options: argparse.Namespace) -> None:
    call = Call(
        id="console",
        channel=options.channel,
        country=options.country,
        language=options.language,
    )
    ledger = Ledger()
    details = CallDetails(call, contact=options.contact)
    conversation = await open_conversation(details, listeners=(ledger,))
    agent = ConsoleAgent(conversation, model_from(os.environ))
    print("Type what the caller says; an empty line ends the call.")
    try:
        while said := (await asyncio.to_thread(_ask)).strip():
            _show(await agent.say(said))
    finally:
        await conversation.end()
        print(f"searches: {ledger.searches}, waited (ms): {[round(ms) for ms in ledger.waited_ms]}")


def _ask() -> str:
    try:
        return input("caller> ")
    except EOFError:
        return ""


def _show(exchange: Exchange) -> None:
    for outcome in exchange.searches:
        titles = [result["title"] for result in outcome.get("results", [])]
        print(f"  search: {outcome['status']} {titles}")
    print(f"agent> {exchange.written}")
    if exchange.spoken != exchange.written:
        print(f"  voice: {exchange.spoken}")


if __name__ == "__main__":
    sys.exit(main())
