"""`make run`: database, migrations, demo, web server and index drain, started and kept alive together."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn
from urllib.error import URLError
from urllib.request import urlopen

import django
from django.core.exceptions import ImproperlyConfigured

from config.announcing import greet, show_questions
from config.children import Child, end_left_behind, stop_all
from config.cluster import shorten_log
from config.embedded import release
from config.env import env_int, env_secret, env_str
from config.errors import EmbeddedServerError, StartError
from config.places import Place, place_of
from config.preparing import load_demo, migrate
from config.private import ROOT, home, open_lock, read_private, write_private

_PORTS_TRIED: Final = 100
_START_SECONDS: Final = 60.0
_BACKLOG: Final = 512


def main() -> int:
    """Run until Ctrl-C. Exit code 1 when the product could not be started."""
    began = time.monotonic()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    # SIGINT as well: a shell that starts this in the background has it ignored.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    children: list[Child] = []
    try:
        _only_one()
        _run(children, began)
    except (ImproperlyConfigured, EmbeddedServerError, StartError) as error:
        _say(f"Earmark did not start. {error}")
        return 1
    except KeyboardInterrupt:
        _say("\nStopping.")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if children:
            stop_all(children)
        release("run")
    return 0


def _run(children: list[Child], began: float) -> None:
    left = end_left_behind()
    if left:
        _say(f"Ended what an earlier run left behind: {', '.join(left)}.")
    listener = _listen(env_str("HOST"), env_int("PORT", low=1, high=65535))
    _say("Starting the database ..." if not env_secret("DATABASE_URL") else "Using DATABASE_URL.")
    django.setup()
    migrate(_say)
    # The web server boots while the demo loads. The drain comes last: the first answer needs the
    # processor more, and does not need the drain.
    web, drain = _children(listener)
    children += [web, drain]
    web.start()
    facts = {**_addresses(listener), **load_demo(read_private("run"), _say)}
    _wait_until_alive(web, facts["url"])
    write_private("run", facts)
    greet(facts, _say)
    show_questions(facts, _say, lambda: time.monotonic() - began)
    drain.start()
    _say("\nAll of this is in .earmark/run.json. Ctrl-C stops everything.")
    _supervise(children, None if env_secret("DATABASE_URL") else place_of("run"))


def _only_one() -> None:
    descriptor = open_lock("run")
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        url = read_private("run").get("url", "the address in .earmark/run.json")
        raise StartError(f"It already runs from this folder, at {url}.") from None


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket on `port` or the next free one; it outlives restarts of the web server."""
    for candidate in range(port, min(port + _PORTS_TRIED, 65536)):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            continue
        if candidate != port:
            _say(f"Port {port} is taken; using {candidate}.")
        return listener
    raise StartError(f"No free port on {host} from {port} on.")


def _addresses(listener: socket.socket) -> dict[str, Any]:
    host, port = listener.getsockname()[:2]
    url = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"  # noqa: S104
    return {"url": url, "admin_url": f"{url}/admin/"}


def _children(listener: socket.socket) -> tuple[Child, Child]:
    web = [sys.executable, "-m", "gunicorn", "-c", "python:config.webserver", f"--chdir={ROOT}/"]
    web += [f"--bind=fd://{listener.fileno()}", "config.wsgi:application"]
    drain = [sys.executable, f"{ROOT}/manage.py", "index", "drain"]
    metrics = {"PROMETHEUS_MULTIPROC_DIR": str(_emptied("metrics"))}
    return Child("web", web, (listener.fileno(),), metrics), Child("drain", drain)


def _emptied(name: str) -> Path:
    """A folder below `.earmark` with nothing of an earlier run in it."""
    folder = home() / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder


def _wait_until_alive(web: Child, url: str) -> None:
    give_up = time.monotonic() + _START_SECONDS
    while time.monotonic() < give_up and web.process and web.process.poll() is None:
        try:
            with urlopen(f"{url}/healthz", timeout=5):  # noqa: S310 - our own address
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise StartError(f"The web server did not answer. End of its log:\n{web.tail()}")


def _supervise(children: Sequence[Child], server: Place | None) -> NoReturn:
    while True:
        time.sleep(0.5)
        if server is not None:
            shorten_log(server)
        for child in children:
            if child.revive():
                _say(f"{child.name} ended; starting it again. Its log: {child.log}")


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    # Whoever read this may have gone; what runs goes on.
    with suppress(BrokenPipeError):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
