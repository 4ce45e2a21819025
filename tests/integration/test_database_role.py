from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.db import connection

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
