"""Messages between the importer and its reading child: a length, then JSON."""

from __future__ import annotations

import json
import os
import select
import struct
import time
from dataclasses import dataclass
from typing import Any, Final

from knowledge.ingestion.limits import MEBIBYTE

HEADER: Final = struct.Struct(">I")
LARGEST: Final = 128 * MEBIBYTE
CHUNK: Final = 1 << 16


class Closed(Exception):
    """The other side has gone."""


class Late(Exception):
    """Nothing came in time."""


def packed(message: dict[str, Any]) -> bytes:
    """Return a message as bytes; ASCII, so that odd file names survive; dates as they are written."""
    data = json.dumps(message, default=str).encode("ascii")
    return HEADER.pack(len(data)) + data


@dataclass
class Inbox:
    """Messages from a pipe, each with an instant by which it must be whole.

    Units: deadlines are of time.monotonic().
    """

    descriptor: int
    pending: bytes = b""

    def receive(self, deadline: float | None = None) -> dict[str, Any]:
        """Return the next message.

        Raises: Closed, Late
        """
        size = HEADER.unpack(self._take(HEADER.size, deadline))[0]
        if size > LARGEST:
            raise Closed
        try:
            message = json.loads(self._take(size, deadline))
        except ValueError as error:
            raise Closed from error
        return message if isinstance(message, dict) else {}

    def _take(self, size: int, deadline: float | None) -> bytes:
        parts, have = [self.pending], len(self.pending)
        while have < size:
            part = self._read(deadline)
            parts.append(part)
            have += len(part)
        data = b"".join(parts)
        self.pending = data[size:]
        return data[:size]

    def _read(self, deadline: float | None) -> bytes:
        if deadline is not None:
            wait = max(deadline - time.monotonic(), 0)
            if not select.select([self.descriptor], [], [], wait)[0]:
                raise Late
        part = os.read(self.descriptor, CHUNK)
        if not part:
            raise Closed
        return part
