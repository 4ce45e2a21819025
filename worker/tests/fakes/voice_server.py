"""The server's side of the contract on loopback, as an HTTP server."""

import asyncio
from contextlib import asynccontextmanager

from aiohttp import web

from tests.fakes.backend import a_reply, an_open_session

BASE = "/internal/voice/v1/sessions"


class VoiceServer:
    def __init__(self, delay=0.0):
        self.delay = delay
        self.url = ""
        self.opened = []
        self.searches = []
        self.ended = []
        self.dropped = 0

    async def open(self, request):
        self.opened.append(await request.json())
        return web.Response(text=an_open_session().model_dump_json(), status=201)

    async def search(self, request):
        self.searches.append(await request.json())
        try:
            await asyncio.sleep(self.delay)
        except asyncio.CancelledError:
            self.dropped += 1
            raise
        return web.Response(text=a_reply(search=f"r-{len(self.searches)}").model_dump_json())

    async def end(self, request):
        self.ended.append(await request.json())
        return web.json_response({"session": "s-1", "ended_at": "2026-01-01T00:00:00Z"})

    @property
    def environment(self):
        return {
            "EARMARK_URL": self.url,
            "EARMARK_SERVICE_KEY": "k.s",
            "EARMARK_ORGANIZATION": "acme",
            "EARMARK_AGENT": "front-desk",
        }


@asynccontextmanager
async def a_voice_server(delay=0.0):
    server = VoiceServer(delay)
    app = web.Application()
    app.router.add_post(BASE, server.open)
    app.router.add_post(f"{BASE}/s-1/tools/knowledge-search", server.search)
    app.router.add_post(f"{BASE}/s-1/end", server.end)
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        await runner.cleanup()
