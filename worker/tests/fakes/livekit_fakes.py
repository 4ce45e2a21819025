import asyncio
from dataclasses import dataclass, field

from livekit import rtc
from livekit.agents import llm, stt, tts, vad
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS, NOT_GIVEN
from livekit.agents.voice.io import AudioInput, AudioOutput, AudioOutputCapabilities, TextOutput

RATE = 16_000


def text(content, *, after=0.0):
    return (after, llm.ChatChunk(id="x", delta=llm.ChoiceDelta(role="assistant", content=content)))


def call(name, arguments, *, id="call-1", content=None, after=0.0):  # noqa: A002
    tool_call = llm.FunctionToolCall(name=name, arguments=arguments, call_id=id)
    delta = llm.ChoiceDelta(role="assistant", content=content, tool_calls=[tool_call])
    return (after, llm.ChatChunk(id="x", delta=delta))


@dataclass
class Asked:
    chat_ctx: llm.ChatContext
    tools: list
    tool_choice: object


class ScriptedLLM(llm.LLM):
    """Plays one script per request; a script is a list of (wait, chunk), or a function of Asked."""

    def __init__(self, *scripts, default=None):
        super().__init__()
        self._scripts = list(scripts)
        self._default = default
        self.asked: list[Asked] = []

    def chat(
        self,
        *,
        chat_ctx,
        tools=None,
        conn_options=DEFAULT_API_CONNECT_OPTIONS,
        parallel_tool_calls=NOT_GIVEN,
        tool_choice=NOT_GIVEN,
        extra_kwargs=NOT_GIVEN,
    ):
        asked = Asked(chat_ctx.copy(), tools or [], tool_choice)
        self.asked.append(asked)
        script = self._scripts.pop(0) if self._scripts else self._default
        if callable(script):
            script = script(asked)
        return _Stream(
            self,
            chat_ctx=chat_ctx,
            tools=tools or [],
            conn_options=conn_options,
            script=script or [],
        )


class _Stream(llm.LLMStream):
    def __init__(self, model, *, chat_ctx, tools, conn_options, script):
        super().__init__(model, chat_ctx=chat_ctx, tools=tools, conn_options=conn_options)
        self._script = script

    async def _run(self):
        for wait, chunk in self._script:
            await asyncio.sleep(wait)
            self._event_ch.send_nowait(chunk)


class ManualSTT(stt.STT):
    def __init__(self):
        super().__init__(capabilities=stt.STTCapabilities(streaming=True, interim_results=True))
        self.streams = []

    async def _recognize_impl(self, buffer, *, language=NOT_GIVEN, conn_options=None):
        raise NotImplementedError

    def stream(self, *, language=NOT_GIVEN, conn_options=DEFAULT_API_CONNECT_OPTIONS):
        stream = _ManualSTTStream(stt=self, conn_options=conn_options)
        self.streams.append(stream)
        return stream

    def say(self, kind, said):
        event = stt.SpeechEvent(
            type=kind, alternatives=[stt.SpeechData(language="en", text=said, confidence=1.0)]
        )
        for stream in self.streams:
            if not stream._event_ch.closed:
                stream._event_ch.send_nowait(event)

    def final(self, said):
        self.say(stt.SpeechEventType.FINAL_TRANSCRIPT, said)

    def interim(self, said):
        self.say(stt.SpeechEventType.INTERIM_TRANSCRIPT, said)

    def preflight(self, said):
        self.say(stt.SpeechEventType.PREFLIGHT_TRANSCRIPT, said)


class _ManualSTTStream(stt.RecognizeStream):
    async def _run(self):
        async for _ in self._input_ch:
            pass


class ManualVAD(vad.VAD):
    def __init__(self):
        super().__init__(capabilities=vad.VADCapabilities(update_interval=0.1))
        self.streams = []

    def stream(self):
        stream = _ManualVADStream(self)
        self.streams.append(stream)
        return stream

    def _send(self, kind, *, speaking, speech=0.6, silence=0.0):
        for stream in self.streams:
            if stream._event_ch.closed:
                continue
            stream._event_ch.send_nowait(
                vad.VADEvent(
                    type=kind,
                    samples_index=0,
                    timestamp=0.0,
                    speech_duration=speech,
                    silence_duration=silence,
                    speaking=speaking,
                    raw_accumulated_speech=speech,
                    raw_accumulated_silence=silence,
                )
            )

    def start(self):
        self._send(vad.VADEventType.START_OF_SPEECH, speaking=True, speech=0.1)
        self.keep_speaking()

    def keep_speaking(self):
        self._send(vad.VADEventType.INFERENCE_DONE, speaking=True)

    def stop(self, silence=0.3):
        self._send(vad.VADEventType.END_OF_SPEECH, speaking=False, silence=silence)


class _ManualVADStream(vad.VADStream):
    async def _main_task(self):
        async for _ in self._input_ch:
            pass


def silence(milliseconds=20):
    samples = RATE * milliseconds // 1000
    return rtc.AudioFrame(
        data=bytes(samples * 2), sample_rate=RATE, num_channels=1, samples_per_channel=samples
    )


class FakeMicrophone(AudioInput):
    def __init__(self):
        super().__init__(label="microphone")

    async def __anext__(self):
        await asyncio.sleep(0.02)
        return silence()


class CapturingTTS(tts.TTS):
    def __init__(self, seconds=0.05):
        super().__init__(
            capabilities=tts.TTSCapabilities(streaming=False), sample_rate=RATE, num_channels=1
        )
        self.heard = []
        self.seconds = seconds

    def synthesize(self, text, *, conn_options=DEFAULT_API_CONNECT_OPTIONS):
        self.heard.append(text)
        return _Spoken(tts=self, input_text=text, conn_options=conn_options)

    @property
    def said(self):
        return " ".join(" ".join(self.heard).split())


class _Spoken(tts.ChunkedStream):
    async def _run(self, output_emitter):
        output_emitter.initialize(
            request_id="r", sample_rate=RATE, num_channels=1, mime_type="audio/pcm"
        )
        output_emitter.push(bytes(int(RATE * self._tts.seconds) * 2))
        output_emitter.flush()


class Loudspeaker(AudioOutput):
    """Plays in no time unless `hold` is set."""

    def __init__(self, hold=0.0):
        super().__init__(
            label="loudspeaker",
            capabilities=AudioOutputCapabilities(pause=False),
            sample_rate=RATE,
        )
        self.hold = hold
        self._played = 0.0
        self._timer = None
        self.frames = []

    async def capture_frame(self, frame):
        await super().capture_frame(frame)
        if not self._played:
            self.on_playback_started(created_at=asyncio.get_running_loop().time())
        self._played += frame.duration
        self.frames.append(frame)

    def flush(self):
        super().flush()
        if not self._played:
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.hold, self._finish, False)

    def clear_buffer(self):
        if self._timer is not None:
            self._timer.cancel()
        if self._played:
            self._finish(True)

    def _finish(self, interrupted):
        position, self._played, self._timer = self._played, 0.0, None
        self.on_playback_finished(playback_position=position, interrupted=interrupted)


@dataclass
class Screen(TextOutput):
    shown: list = field(default_factory=list)

    def __init__(self):
        super().__init__(label="screen", next_in_chain=None)
        self.shown = []

    async def capture_text(self, text):
        self.shown.append(str(text))

    def flush(self):
        pass
