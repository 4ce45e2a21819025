"""The two ends of the line: a microphone that plays a file, a loudspeaker that records."""

import asyncio

from livekit import rtc
from livekit.agents.voice.io import AudioInput, AudioOutput, AudioOutputCapabilities

from roundtrip.ears import RATE
from roundtrip.voice import Sound

_STEP = 0.02


class FileMicrophone(AudioInput):
    """Silence, in real time, until something is put in to be heard."""

    def __init__(self) -> None:
        super().__init__(label="file")
        self._pending = b""
        self._size = int(RATE * _STEP) * 2

    def play(self, sound: Sound) -> None:
        """Put a sound on the line."""
        self._pending += sound.at(RATE).samples

    @property
    def silent(self) -> bool:
        """Whether everything has been heard."""
        return not self._pending

    async def __anext__(self) -> rtc.AudioFrame:
        await asyncio.sleep(_STEP)
        piece, self._pending = self._pending[: self._size], self._pending[self._size :]
        piece = piece.ljust(self._size, b"\0")
        return rtc.AudioFrame(piece, RATE, 1, len(piece) // 2)


class Recorder(AudioOutput):
    """Keeps what is said to the caller; plays in real time."""

    def __init__(self, rate: int) -> None:
        super().__init__(
            label="recorder", capabilities=AudioOutputCapabilities(pause=False), sample_rate=rate
        )
        self.recorded = b""
        self._rate = rate
        self._playing = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def sound(self) -> Sound:
        """Everything that was said."""
        return Sound(self._rate, self.recorded)

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if not self._playing:
            self.on_playback_started(created_at=asyncio.get_running_loop().time())
        self.recorded += bytes(frame.data)
        self._playing += frame.duration

    def flush(self) -> None:
        super().flush()
        if self._playing:
            self._timer = asyncio.get_running_loop().call_later(self._playing, self._done)

    def clear_buffer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._playing:
            self._done(interrupted=True)

    def _done(self, *, interrupted: bool = False) -> None:
        played, self._playing, self._timer = self._playing, 0.0, None
        self.on_playback_finished(playback_position=played, interrupted=interrupted)
