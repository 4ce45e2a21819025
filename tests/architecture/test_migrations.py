import pytest
from django.apps import apps
from django.db.migrations import AddField, CreateModel
from django.db.migrations.loader import MigrationLoader
from django.db.models import NOT_PROVIDED

OURS = {"tenants", "knowledge", "scopes", "golden", "voiceapi", "search"}


def added_later():
    for (app, _name), migration in MigrationLoader(None).disk_migrations.items():
        made = {one.name.lower() for one in migration.operations if isinstance(one, CreateModel)}
        for one in migration.operations:
            if app in OURS and isinstance(one, AddField) and one.model_name.lower() not in made:
                yield app, one.model_name, one.name


@pytest.mark.parametrize(("app", "model", "name"), sorted(added_later()))
def test_a_process_of_the_release_before_can_still_write(app, model, name):
    field = apps.get_model(app, model)._meta.get_field(name)
    assert field.null or field.db_default is not NOT_PROVIDED
