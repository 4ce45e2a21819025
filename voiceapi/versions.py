"""What is on record of each contract version: its wire, whether it is released, and its changelog line."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from django.conf import settings

from tenants.errors import EarmarkError

# As much of a fingerprint as a person can compare.
_SHORT: Final = slice(len("sha256:"), len("sha256:") + 12)


class WireChanged(EarmarkError):
    """What goes over the wire has changed: serve a new version beside this one, and say so in the changelog."""

    code = "wire_changed"


class VersionReleased(EarmarkError):
    """This contract version is released and stays as it is: serve a new version beside it."""

    code = "version_released"


class ChangelogSilent(EarmarkError):
    """CHANGELOG.md does not name the wire of a contract version that is served."""

    code = "changelog_silent"


@dataclass(frozen=True)
class Version:
    """One version: the fingerprint of its wire; nobody may change what is released."""

    wire: str
    released: bool = False


def on_record() -> dict[str, Version]:
    """Return every version that there ever was, by its number."""
    kept = json.loads(_file().read_text("utf-8")) if _file().exists() else {}
    return {number: Version(**facts) for number, facts in kept.items()}


def require_same(version: int, wire: str) -> None:
    """Refuse a wire that is not the one on record; a version that is new has none.

    Raises: WireChanged
    """
    if on_record().get(str(version), Version(wire)).wire != wire:
        raise WireChanged


def require_told(version: int, wire: str) -> None:
    """Refuse a wire of which the changelog says nothing.

    Raises: ChangelogSilent
    """
    words = mention(version, wire)
    if words not in (Path(settings.BASE_DIR) / "CHANGELOG.md").read_text("utf-8"):
        raise ChangelogSilent(f"{ChangelogSilent.__doc__} Write of it with the words: {words}")


def mention(version: int, wire: str) -> str:
    """Return the words by which the changelog names a wire."""
    return f"contract {version}, wire {wire[_SHORT]}"


def record(version: int, wire: str, *, amend: bool = False) -> None:
    """Put down the wire of a version; `amend` lets one change that is not released.

    Raises: VersionReleased, WireChanged
    """
    known = on_record()
    before = known.get(str(version), Version(wire))
    if before.wire != wire and before.released:
        raise VersionReleased
    if before.wire != wire and not amend:
        raise WireChanged
    _keep(known | {str(version): replace(before, wire=wire)})


def release(version: int) -> None:
    """Mark a version as released."""
    known = on_record()
    _keep(known | {str(version): replace(known[str(version)], released=True)})


def _keep(known: dict[str, Version]) -> None:
    facts = {number: asdict(version) for number, version in known.items()}
    _file().write_text(json.dumps(facts, indent=2) + "\n", "utf-8")


def _file() -> Path:
    return Path(settings.BASE_DIR) / "contracts" / "voice-versions.json"
