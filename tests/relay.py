"""A way to PostgreSQL that a test can close, or let fall silent while every connection stays open."""

from __future__ import annotations

import selectors
import shutil
import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

_NAME: Final = ".s.PGSQL.5432"
_LOOKS_S: Final = 0.05


class Relay:
    """Passes bytes on between whoever connects to its folder and the server in another folder."""

    def __init__(self, server: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="earmark-relay-"))
        self._server = f"{server}/{_NAME}"
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._passes_on = threading.Event()
        self._passes_on.set()

    def open(self) -> None:
        """Let connections through from now on."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.folder / _NAME))
        listener.listen(64)
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def refuse(self) -> None:
        """End every connection and refuse new ones, as a server does that has ended."""
        assert self._listener is not None
        (self.folder / _NAME).unlink()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for pair in self._pairs:
                _end(*pair)
            self._pairs.clear()

    def fall_silent(self) -> None:
        """Take what is sent and pass nothing on, as a host does that is frozen."""
        self._passes_on.clear()

    def go_on(self) -> None:
        """Pass on what has come meanwhile, and what comes."""
        self._passes_on.set()

    def close(self) -> None:
        """End everything."""
        self.go_on()
        with suppress(OSError):
            self.refuse()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                with self._lock:
                    self._pairs.append((client, server))
                threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError, ValueError), selectors.DefaultSelector() as ready:
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            while True:
                self._passes_on.wait()
                for key, _ in ready.select(_LOOKS_S):
                    sent = key.fileobj.recv(65536)  # type: ignore[union-attr]
                    self._passes_on.wait()
                    if not sent:
                        raise OSError
                    key.data.sendall(sent)
        _end(client, server)


def _end(*sockets: socket.socket) -> None:
    for one in sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()
