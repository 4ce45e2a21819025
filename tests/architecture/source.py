"""The files of the project, as the architecture tests look at them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

from config.private import ROOT

PACKAGES: Final = ("config", "tenants", "knowledge", "scopes", "golden", "search", "voiceapi")
_NOT_OURS: Final = frozenset({"__pycache__", "artefacts", "staticfiles", "dist"})


def files(*suffixes: str) -> list[Path]:
    """Every file that belongs to the project, caches and installed packages left out."""
    found = (path for path in ROOT.rglob("*") if not _foreign(path.relative_to(ROOT).parts))
    return sorted(p for p in found if p.is_file() and (not suffixes or p.suffix in suffixes))


def _foreign(parts: tuple[str, ...]) -> bool:
    hidden = any(part.startswith(".") and part != ".ci" for part in parts[:-1])
    return hidden or not _NOT_OURS.isdisjoint(parts)


def server_modules() -> list[Path]:
    """Every Python file of the server."""
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def pure_modules() -> list[str]:
    """The modules that promise to run without Django, packages opened up."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contract = next(c for c in settings["contracts"] if c["id"] == "pure")
    return [module for name in contract["source_modules"] for module in _inside(name)]


def _inside(name: str) -> list[str]:
    folder = ROOT / name.replace(".", "/")
    inner = folder.rglob("*.py") if folder.is_dir() else []
    dotted = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(inner)]
    return [name, *(module for module in dotted if not module.endswith("__init__"))]
