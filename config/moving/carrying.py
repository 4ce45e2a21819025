"""An organization as one file, and out of one: every truth row and all of its history.

The file names people by their user name and leaves the number of the organization out, so that an
organization that was brought in elsewhere goes out again as the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from django.db import IntegrityError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from config.moving.errors import FileRefused, SlugTaken
from config.moving.tables import Model, columns, moved_models, user_columns
from tenants.isolation import organization_context
from tenants.models import Organization, User

FORMAT: Final = 1
BATCH: Final = 500
MANIFEST: Final = "manifest.json"
_ABOUT: Final = ("first_name", "last_name", "email", "is_staff")
# A fixed date: the same content is the same file.
_DATE: Final = (2020, 1, 1, 0, 0, 0)
Tell = Callable[[str], object]


def export(slug: str, place: Path, tell: Tell = lambda _line: None) -> dict[str, Any]:
    """Write an organization into one file and return what it lists.

    Cost: one snapshot of all of its rows, a batch of them in memory at a time.
    """
    organization = Organization.objects.get(slug=slug)
    with (
        organization_context(organization.pk, snapshot=True),
        zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file,
    ):
        people = _Names()
        listed: dict[str, Any] = {"format": FORMAT, "schema": schema(), "tables": {}}
        for model in moved_models():
            name = model._meta.db_table
            listed["tables"][name] = _write(file, name, _lines(model, organization.pk, people))
            tell(f"{name}: {listed['tables'][name]['rows']}")
        listed["organization"] = _organization(organization)
        listed["people"] = people.described()
        _put(file, MANIFEST, json.dumps(listed, indent=1, sort_keys=True).encode())
    return listed


def bring_in(
    place: Path, *, slug: str | None = None, tell: Tell = lambda _line: None
) -> Organization:
    """Make the organization of a file; all of it or nothing. Its index is made by `reconcile` afterwards.

    People are recognised by their user name; those not known here are made without a password.
    Raises: FileRefused, SlugTaken
    """
    with zipfile.ZipFile(place) as file, transaction.atomic():
        listed = json.loads(file.read(MANIFEST))
        _check(listed)
        about = listed["organization"] | ({"slug": slug} if slug else {})
        if Organization.objects.filter(slug=about["slug"]).exists():
            raise SlugTaken(slug=about["slug"])
        organization = Organization.objects.create(**about)
        ids = _people(listed["people"])
        for model in reversed(moved_models()):
            name = model._meta.db_table
            try:
                with organization_context(organization.pk):
                    _read(file, model, listed["tables"][name], organization.pk, ids)
            except IntegrityError:
                raise FileRefused(
                    f"Rows of {name} are here already: an organization is in one place."
                ) from None
            tell(f"{name}: {listed['tables'][name]['rows']}")
    return organization


def schema() -> list[str]:
    """Return the newest migration of every app whose tables travel."""
    labels = {model._meta.app_label for model in moved_models()}
    applied = MigrationRecorder(connection).applied_migrations()
    newest: dict[str, str] = {}
    for app, name in applied:
        if app in labels:
            newest[app] = max(newest.get(app, ""), name)
    return [f"{app}.{name}" for app, name in sorted(newest.items())]


class _Names:
    """Names of people by number, and those that were asked for."""

    def __init__(self) -> None:
        self._all = dict(User.objects.values_list("pk", "username"))
        self._used: set[str] = set()

    def __getitem__(self, number: int) -> str:
        name = self._all[number]
        self._used.add(name)
        return name

    def described(self) -> dict[str, dict[str, Any]]:
        """Return what is known of those that were asked for; never a password."""
        rows = User.objects.filter(username__in=self._used).order_by("username")
        return {row.username: {name: getattr(row, name) for name in _ABOUT} for row in rows}


def _organization(organization: Organization) -> dict[str, Any]:
    names = (f.name for f in Organization._meta.concrete_fields)
    row = {name: getattr(organization, name) for name in names if name != "id"}
    return row | {"created_at": organization.created_at.isoformat()}


def _lines(model: Model, organization_id: int, people: _Names) -> Iterator[bytes]:
    table, persons = model._meta.db_table, user_columns(model)
    names = [name for name in columns(model) if name != "organization_id"]
    key = model._meta.pk.column if model._meta.pk.column in names else "row::text"
    picked = ", ".join(f'"{name}"' for name in names)
    sql = (
        f"SELECT row_to_json(row)::text FROM (SELECT {picked} FROM {table}"  # noqa: S608 - our names
        f" WHERE organization_id = %s) AS row ORDER BY {key}"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [organization_id])
        while rows := cursor.fetchmany(BATCH):
            for (text,) in rows:
                yield _line(text, persons, people)


def _line(text: str, persons: Sequence[str], people: _Names) -> bytes:
    row = json.loads(text)
    for name in persons:
        row[name] = None if row[name] is None else people[row[name]]
    return (
        json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    )


def _write(file: zipfile.ZipFile, name: str, lines: Iterator[bytes]) -> dict[str, Any]:
    digest, rows = hashlib.sha256(), 0
    with file.open(_info(f"{name}.jsonl"), "w", force_zip64=True) as table:
        for line in lines:
            table.write(line)
            digest.update(line)
            rows += 1
    return {"rows": rows, "sha256": digest.hexdigest()}


def _put(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    file.writestr(_info(name), content)


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


def _check(listed: dict[str, Any]) -> None:
    if listed.get("format") != FORMAT:
        raise FileRefused("It was written by another version of Earmark.")
    if listed["schema"] != schema():
        raise FileRefused(
            "Both installations must be at the same release: it was written at"
            f" {', '.join(listed['schema'])}."
        )


def _people(described: dict[str, dict[str, Any]]) -> dict[str, int]:
    known = set(User.objects.filter(username__in=described).values_list("username", flat=True))
    for name in sorted(set(described) - known):
        person = User(username=name, **described[name])
        person.set_unusable_password()
        person.save()
    return dict(User.objects.filter(username__in=described).values_list("username", "pk"))


def _read(
    file: zipfile.ZipFile,
    model: Model,
    listed: dict[str, Any],
    organization_id: int,
    ids: dict[str, int],
) -> None:
    digest, batch, rows = hashlib.sha256(), [], 0
    with file.open(f"{model._meta.db_table}.jsonl") as table:
        for line in table:
            digest.update(line)
            batch.append(_row(line, model, organization_id, ids))
            rows += 1
            if len(batch) == BATCH:
                _insert(model, batch)
                batch = []
    _insert(model, batch)
    if (rows, digest.hexdigest()) != (listed["rows"], listed["sha256"]):
        raise FileRefused(f"{model._meta.db_table} is not as it was written.")


def _row(line: bytes, model: Model, organization_id: int, ids: dict[str, int]) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(line)
    for name in user_columns(model):
        row[name] = None if row[name] is None else ids[row[name]]
    return row | {"organization_id": organization_id}


def _insert(model: Model, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    table, names = model._meta.db_table, ", ".join(f'"{name}"' for name in columns(model))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {names}"  # noqa: S608 - our names
            f" FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb)",
            [json.dumps(rows)],
        )
