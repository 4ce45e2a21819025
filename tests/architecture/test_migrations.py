import pytest
from django.apps import apps
from django.contrib.postgres.operations import ValidateConstraint
from django.db.migrations import AddConstraint, AddField, CreateModel
from django.db.migrations.loader import MigrationLoader
from django.db.models import NOT_PROVIDED

from tenants.isolation import AddTenantKeyNotValid, TenantForeignKey

OURS = {"tenants", "knowledge", "scopes", "golden", "voiceapi", "search"}


def changes_of_tables_that_exist():
    for (app, name), migration in MigrationLoader(None).disk_migrations.items():
        made = {one.name.lower() for one in migration.operations if isinstance(one, CreateModel)}
        for one in migration.operations:
            if app in OURS and getattr(one, "model_name", "").lower() not in made:
                yield app, name, one


def added_later():
    for app, _name, one in changes_of_tables_that_exist():
        if isinstance(one, AddField):
            yield app, one.model_name, one.name


def keys_added_later():
    for app, name, one in changes_of_tables_that_exist():
        if isinstance(one, AddConstraint) and isinstance(one.constraint, TenantForeignKey):
            yield app, name, one


@pytest.mark.parametrize(("app", "model", "name"), sorted(added_later()))
def test_a_process_of_the_release_before_can_still_write(app, model, name):
    field = apps.get_model(app, model)._meta.get_field(name)
    assert field.null or field.db_default is not NOT_PROVIDED


def test_a_key_is_added_to_a_table_with_rows_without_reading_them():
    added = list(keys_added_later())
    assert added
    assert [row for row in added if not isinstance(row[2], AddTenantKeyNotValid)] == []


def test_a_key_is_compared_with_the_rows_in_a_later_migration():
    compared = {
        (app, one.name): name
        for app, name, one in changes_of_tables_that_exist()
        if isinstance(one, ValidateConstraint)
    }
    for app, name, one in keys_added_later():
        assert compared[app, one.constraint.name] > name
