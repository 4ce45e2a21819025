"""Every error of the product by its code, as docs/errors.md lists them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.apps import apps
from django.conf import settings

from tenants.errors import EarmarkError
from voiceapi.errors import status_of

_MARK: Final = "<!-- written by `manage.py errors --write` -->\n"
_HEAD: Final = "| Code | Meaning | Voice API | Retry |\n| --- | --- | --- | --- |\n"
# Modules that start something, or refuse to be read twice.
_SKIPPED: Final = ("migrations", "settings", "management", "wsgi", "asgi", "celery", "run", "stop")


def error_classes() -> list[type[EarmarkError]]:
    """Return every class of error that the product's modules define, by code."""
    packages = _import_everything()
    ours = [kind for kind in _kinds(EarmarkError) if kind.__module__.split(".")[0] in packages]
    return sorted(ours, key=lambda kind: (kind.code, kind.__module__, kind.__name__))


def table() -> str:
    """Return the list of codes as a Markdown table."""
    return _HEAD + "".join(_line(kind) for kind in error_classes())


def write() -> None:
    """Put the table into docs/errors.md, below its mark."""
    before, _, _ = page().read_text("utf-8").partition(_MARK)
    page().write_text(f"{before}{_MARK}{table()}", "utf-8")


def is_current() -> bool:
    """Whether docs/errors.md lists the codes as they are."""
    return page().read_text("utf-8").endswith(f"{_MARK}{table()}")


def page() -> Path:
    """Return where the list is kept."""
    return Path(settings.BASE_DIR) / "docs" / "errors.md"


def _line(kind: type[EarmarkError]) -> str:
    # The class is asked through an instance, because that is how its door will meet it.
    error = kind()
    meaning = " ".join(str(error).split()).replace("|", "\\|")
    status = status_of(error) or ""
    return f"| `{kind.code}` | {meaning} | {status} | {'yes' if kind.retryable else ''} |\n"


def _kinds(kind: type[EarmarkError]) -> Iterator[type[EarmarkError]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from _kinds(inner)


def _import_everything() -> set[str]:
    root = Path(settings.BASE_DIR)
    local = [config for config in apps.get_app_configs() if Path(config.path).parent == root]
    for config in local:
        for module in pkgutil.walk_packages([config.path], f"{config.name}."):
            if not set(module.name.split(".")) & set(_SKIPPED):
                importlib.import_module(module.name)
    return {config.name for config in local}
