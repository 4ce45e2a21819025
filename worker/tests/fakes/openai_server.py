"""A loopback server that speaks enough of both OpenAI APIs to stream scripted replies."""

import json
from contextlib import asynccontextmanager

from aiohttp import web


class OpenAIServer:
    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []
        self.url = ""

    def next_reply(self):
        return self.replies.pop(0) if self.replies else {"text": "Done."}

    async def chat(self, request):
        body = await request.json()
        self.requests.append(body)
        return await _stream(request, _chat_events(self.next_reply()), named=False)

    async def responses(self, request):
        body = await request.json()
        self.requests.append(body)
        return await _stream(request, _response_events(self.next_reply()), named=True)


@asynccontextmanager
async def an_openai_server(*replies):
    server = OpenAIServer(*replies)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.chat)
    app.router.add_post("/v1/responses", server.responses)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    server.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()


async def _stream(request, events, *, named):
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in events:
        if named:
            await response.write(f"event: {event['type']}\n".encode())
        await response.write(f"data: {json.dumps(event)}\n\n".encode())
    if not named:
        await response.write(b"data: [DONE]\n\n")
    return response


def _chat_events(reply):
    def chunk(delta, finish=None):
        return {
            "id": "chat-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.get("text", "")):
        yield chunk({"content": piece})
    for index, (name, arguments) in enumerate(reply.get("calls", [])):
        head = {"index": index, "id": f"call-{index}", "type": "function"}
        yield chunk({"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
        for piece in _pieces(arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if reply.get("calls") else "stop")


def _response_events(reply):
    response = {
        "id": "resp-1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "in_progress",
    }
    number = iter(range(10_000))
    yield {"type": "response.created", "sequence_number": next(number), "response": response}
    for index, (name, arguments) in enumerate(reply.get("calls", [])):
        item = {
            "type": "function_call",
            "id": f"fc-{index}",
            "call_id": f"call-{index}",
            "name": name,
            "arguments": "",
            "status": "in_progress",
        }
        yield {
            "type": "response.output_item.added",
            "sequence_number": next(number),
            "output_index": index,
            "item": item,
        }
        for piece in _pieces(arguments):
            yield {
                "type": "response.function_call_arguments.delta",
                "sequence_number": next(number),
                "item_id": item["id"],
                "output_index": index,
                "delta": piece,
            }
        yield {
            "type": "response.function_call_arguments.done",
            "sequence_number": next(number),
            "item_id": item["id"],
            "output_index": index,
            "name": name,
            "arguments": arguments,
        }
        done = {**item, "arguments": arguments, "status": "completed"}
        yield {
            "type": "response.output_item.done",
            "sequence_number": next(number),
            "output_index": index,
            "item": done,
        }
    for piece in _pieces(reply.get("text", "")):
        yield {
            "type": "response.output_text.delta",
            "sequence_number": next(number),
            "item_id": "msg-1",
            "output_index": 0,
            "content_index": 0,
            "delta": piece,
            "logprobs": [],
        }
    usage = {
        "input_tokens": 1,
        "output_tokens": 1,
        "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    yield {
        "type": "response.completed",
        "sequence_number": next(number),
        "response": {**response, "status": "completed", "usage": usage},
    }


def _pieces(text, size=5):
    return [text[i : i + size] for i in range(0, len(text), size)]
