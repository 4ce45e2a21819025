from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.db import connection

from config.embedded import ensure_running
from config.private import ROOT
from config.provision import APP, OWNER, SUPERUSER
from tests.unit.test_production_settings import GOOD


def start(url):
    environment = {**GOOD, "DATABASE_URL": url, "PATH": os.environ["PATH"]}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "import config.wsgi"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("role", "reason"), [(SUPERUSER, "is a superuser"), (OWNER, "owns the tables")]
)
def test_the_web_server_refuses_to_start_above_row_security(role, reason):
    refused = start(ensure_running("test").url(role, connection.settings_dict["NAME"]))
    assert refused.returncode == 1
    assert f"The database role {role} of DATABASE_URL {reason}" in refused.stderr


@pytest.mark.django_db
def test_the_web_server_starts_as_the_application_role():
    started = start(ensure_running("test").url(APP, connection.settings_dict["NAME"]))
    assert started.returncode == 0, started.stderr


def test_the_web_server_starts_before_its_database():
    started = start("postgresql://app:x@/earmark?host=/nowhere")
    assert started.returncode == 0, started.stderr
