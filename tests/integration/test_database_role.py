from __future__ import annotations

import psycopg
import pytest
from django.contrib.auth.models import Permission
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import connection

from config.database.limits import refuse_endless_statements
from config.database.roles import refuse_unsafe_role
from config.embedded import ensure_running
from config.provision import APP, OWNER, SUPERUSER
from tenants.models import Organization


@pytest.mark.django_db
def test_tests_run_as_the_application_role():
    with connection.cursor() as cursor:
        cursor.execute("select current_user, rolsuper from pg_roles where rolname = current_user")
        assert cursor.fetchone() == ("earmark_app", False)


@pytest.mark.django_db(transaction=True)
def test_a_transactional_test_can_write():
    Organization.objects.create(slug="acme", name="Acme")
    assert Organization.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_transactional_test_is_cleared_before_the_next():
    assert Organization.objects.count() == 0
    assert Permission.objects.filter(codename="add_organization").exists()


@pytest.mark.parametrize("role", [SUPERUSER, OWNER])
@pytest.mark.django_db
def test_a_role_that_row_security_does_not_bind_is_refused(role):
    url = ensure_running("test").url(role, connection.settings_dict["NAME"])
    with psycopg.connect(url) as unsafe, pytest.raises(ImproperlyConfigured, match=role):
        refuse_unsafe_role(unsafe)


@pytest.mark.django_db
def test_a_role_with_bypassrls_is_refused():
    server, name = ensure_running("test"), connection.settings_dict["NAME"]
    with psycopg.connect(server.url(SUPERUSER, name)) as unsafe:
        unsafe.execute("create role sees_all bypassrls; set local role sees_all")
        with pytest.raises(ImproperlyConfigured, match="sees_all of DATABASE_URL has BYPASSRLS"):
            refuse_unsafe_role(unsafe)


def test_migrations_do_not_run_as_the_application_role():
    with pytest.raises(CommandError, match="DATABASE_OWNER_URL"):
        call_command("migrate", database="default")


@pytest.mark.parametrize("missing", ["statement_timeout", "lock_timeout"])
@pytest.mark.django_db
def test_connections_without_a_limit_for_statements_and_locks_are_refused(missing):
    there = connection.settings_dict
    url = ensure_running("test").url(APP, there["NAME"])
    options = f"{there['OPTIONS']['options']} -c {missing}=0"
    with (
        psycopg.connect(url, options=options) as endless,
        pytest.raises(ImproperlyConfigured, match=f"have no {missing},"),
    ):
        refuse_endless_statements(endless)


@pytest.mark.django_db
def test_connections_whose_limits_are_those_of_the_role_will_do():
    there = connection.settings_dict
    url = ensure_running("test").url(APP, there["NAME"])
    with psycopg.connect(url) as limited:
        limited.execute("set statement_timeout = '20s'; set lock_timeout = '2s'")
        limited.commit()
        refuse_endless_statements(limited)
