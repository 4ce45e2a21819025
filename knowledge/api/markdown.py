"""An instruction as a Markdown file: what is known of it in the front matter, its body word for word."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Final

import yaml
from django.utils.text import slugify

from knowledge.ingestion.errors import Malformed

KEYS: Final = (
    "external_id", "title", "directory", "language", "status", "visibility", "channels", "segments",
    "jurisdictions", "valid_from", "valid_until",
)  # fmt: skip
# The end is looked for at the beginning of a line, where the writer below never puts one.
_FILE: Final = re.compile(r"---\r?\n(?P<front>.*?)^---\r?\n(?P<body>.*)", re.S | re.M)
_LONGEST_NAME: Final = 60


class _Writer(yaml.SafeDumper):
    """Spells out what a reader of YAML would take for a line break or fold away."""


def _text(writer: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None if value.isprintable() else '"'
    return writer.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Writer.add_representer(str, _text)


def to_markdown(told: Mapping[str, Any]) -> str:
    """Return the file of an instruction as the API tells it; reading it gives the same back."""
    front = {name: told[name] for name in KEYS}
    text = yaml.dump(front, Dumper=_Writer, allow_unicode=True, sort_keys=False, width=math.inf)
    return f"---\n{text}---\n{told['body']}"


def from_markdown(text: str) -> dict[str, Any]:
    """Return what a file says, under the names of the API.

    Raises: Malformed
    """
    match = _FILE.fullmatch(text)
    if match is None:
        raise Malformed("It does not begin with a front matter between two lines of dashes.")
    try:
        front = yaml.safe_load(match["front"])
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Malformed("Its front matter is not YAML.") from error
    if not isinstance(front, dict):
        raise Malformed("Its front matter names nothing.")
    said = {str(name): _plain(value) for name, value in front.items()}
    return {**said, "body": match["body"]}


def file_path(told: Mapping[str, Any]) -> str:
    """Return where the file of an instruction lies; the front matter alone says what it is."""
    folders = [
        slugify(name)[:_LONGEST_NAME] or "_" for name in told["directory"].split("/") if name
    ]
    digest = hashlib.sha256(told["external_id"].encode()).hexdigest()[:8]
    stem = slugify(told["title"])[:_LONGEST_NAME] or "instruction"
    return "/".join([*folders, f"{stem}-{digest}.md"])


def _plain(value: Any) -> Any:
    """YAML reads an instant without quotes as one; the API takes it as text."""
    if isinstance(value, datetime):
        instant = value if value.tzinfo else value.replace(tzinfo=UTC)
        return instant.isoformat().replace("+00:00", "Z")
    return f"{value.isoformat()}T00:00:00Z" if isinstance(value, date) else value
