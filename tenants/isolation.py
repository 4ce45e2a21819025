"""What keeps organizations apart: the row security context and composite foreign keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Final

from django.db import connection, migrations, models, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement
from django.db.models.constraints import BaseConstraint

from tenants.errors import EarmarkError

_active: ContextVar[tuple[int, ...] | None] = ContextVar("organizations", default=None)
_limits: ContextVar[Mapping[str, str]] = ContextVar("limits", default=MappingProxyType({}))


class OrganizationSwitchRefused(EarmarkError):
    """A block that serves one organization may not turn to another."""

    code = "organization_switch_refused"


@contextmanager
def organization_context(
    *organization_ids: int,
    durable: bool = False,
    snapshot: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[None]:
    """Open a transaction that sees the rows of these organizations and of no other.

    With `snapshot` every statement in it reads the same instant (and may only read); `settings` are
    the database's own, such as statement_timeout, and end with the transaction.
    Raises: OrganizationSwitchRefused when it would widen or change a context already open.
    Cost:   one statement beside the transaction's own.
    """
    outer = _active.get()
    if outer is not None and not set(organization_ids) <= set(outer):
        raise OrganizationSwitchRefused
    token = _active.set(organization_ids)
    outermost = not connection.in_atomic_block
    try:
        with transaction.atomic(durable=durable):
            seen = ",".join(str(number) for number in sorted(organization_ids))
            opening = _ONE_INSTANT if snapshot and outermost else ""
            limits = _limits.get() if outer is None else {}
            before = _set_context(seen, {**limits, **settings}, opening=opening)
            yield
            # A released savepoint keeps its settings, so an enclosing transaction gets its own back.
            if not outermost:
                _set_context(before)
    finally:
        _active.reset(token)


@contextmanager
def within_limits(settings: Mapping[str, str]) -> Iterator[None]:
    """Have every context that is opened in the block set these, but for what it sets itself."""
    token = _limits.set(settings)
    try:
        yield
    finally:
        _limits.reset(token)


# One instant for all that is read. A search's statements are planned once for each connection, whatever
# the statistics were then: so a row that is read is to weigh more than any page of an index, and what
# reads the fewest rows is chosen even where the planner takes every organization for a small one.
_ONE_INSTANT: Final = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;"
    " SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off;"
    " SET LOCAL cpu_tuple_cost = 10;"
)


def _set_context(
    value: str, settings: Mapping[str, str] = MappingProxyType({}), *, opening: str = ""
) -> str:
    set_to = {"app.organization": value, **settings}
    sets = ", ".join(f"set_config('{name}', %s, true)" for name in set_to)
    with connection.cursor() as cursor:
        cursor.execute(
            f"{opening}SELECT coalesce(current_setting('app.organization', true), ''), {sets}",
            list(set_to.values()),
        )
        while opening and cursor.nextset():
            pass
        row: tuple[str, str] = cursor.fetchone()
    return row[0]


def active_organizations() -> tuple[int, ...]:
    """Return the organizations that the current block may see."""
    return _active.get() or ()


class TenantForeignKey(BaseConstraint):
    """A foreign key that carries the organization, so that no row can point into another's.

    Django 5.2 cannot declare one: its ForeignObject creates no constraint.
    """

    def __init__(self, *, column: str, to: str, on_delete: str = "RESTRICT", name: str) -> None:
        super().__init__(name=name)
        self.column = column
        self.to = to
        self.on_delete = on_delete

    def constraint_sql(
        self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None
    ) -> str:
        """Defer: the other table's unique key may be made later in the same migration."""
        if schema_editor is not None and model is not None:
            schema_editor.deferred_sql.append(self._statement(model, schema_editor))
        return ""

    def create_sql(
        self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None
    ) -> str:
        """Return nothing now and the constraint once the migration's tables stand."""
        return self.constraint_sql(model, schema_editor)

    def remove_sql(
        self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None
    ) -> str:
        """Drop it."""
        if model is None or schema_editor is None:
            return ""
        quote = schema_editor.quote_name
        return f"ALTER TABLE {quote(model._meta.db_table)} DROP CONSTRAINT {quote(self.name)}"

    def _statement(
        self, model: type[models.Model], schema_editor: BaseDatabaseSchemaEditor
    ) -> Statement:
        quote = schema_editor.quote_name
        target = model._meta.apps.get_model(self.to)._meta.db_table
        sql = (
            f"ALTER TABLE {quote(model._meta.db_table)} ADD CONSTRAINT {quote(self.name)}"
            f" FOREIGN KEY (organization_id, {quote(self.column)})"
            f" REFERENCES {quote(target)} (organization_id, id)"
            f" ON DELETE {self.on_delete} DEFERRABLE INITIALLY DEFERRED"
        )
        return Statement(sql.replace("%", "%%"))

    def validate(self, *_args: Any, **_kwargs: Any) -> None:
        """Leave it to the database; forms check through TenantModel.clean."""

    def deconstruct(self) -> tuple[str, tuple[()], dict[str, Any]]:
        """Return how to make it again."""
        path, _, kwargs = super().deconstruct()
        kwargs |= {"column": self.column, "to": self.to, "on_delete": self.on_delete}
        return path, (), kwargs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TenantForeignKey):
            return NotImplemented
        return self.deconstruct() == other.deconstruct()

    __hash__ = BaseConstraint.__hash__


class AddTenantKeyNotValid(migrations.AddConstraint):
    """Adds a tenant key to a table with rows: it holds for every write from now on, and reads none.

    ValidateConstraint, in a later migration, compares it with the rows there are; that holds up nobody.
    """

    constraint: TenantForeignKey

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from: Any, to_state: Any
    ) -> None:
        """Add it at once; its lock is held until the migration ends."""
        model = to_state.apps.get_model(app_label, self.model_name)
        if self.allow_migrate_model(schema_editor.connection.alias, model):
            sql = f"{self.constraint._statement(model, schema_editor)} NOT VALID"
            schema_editor.execute(sql, params=None)


def row_security(*tables: str) -> migrations.RunSQL:
    """Return the migration step that shows only rows of the context's organizations.

    Not FORCEd: the owner migrates and owns the SECURITY DEFINER look-ups; the application role,
    which serves, is neither owner nor superuser.
    """
    return migrations.RunSQL(
        sql=[_policy(table) for table in tables],
        reverse_sql=[
            f"DROP POLICY organization ON {table}; ALTER TABLE {table} DISABLE ROW LEVEL SECURITY"
            for table in tables
        ],
    )


def _policy(table: str) -> str:
    # The sub-select is evaluated once per statement instead of once per row.
    seen = (
        "organization_id = ANY ((SELECT string_to_array("
        "coalesce(current_setting('app.organization', true), ''), ',')::bigint[])::bigint[])"
    )
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;"
        f" CREATE POLICY organization ON {table} USING ({seen}) WITH CHECK ({seen})"
    )
