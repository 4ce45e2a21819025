"""The production set in compose.yaml: parsed here, because no container engine is needed to be wrong."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
import yaml

from config.private import ROOT
from config.settings import base
from config.variables import VARIABLES

COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "earmark"}
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def names(service):
    return {name for name in service["environment"] if name != "DJANGO_SETTINGS_MODULE"}


def test_the_whole_production_set_is_there():
    assert set(SERVICES) == {
        "postgres", "redis", "migrate", "web", "worker", "fetcher", "staff", "beat", "drain",
    }  # fmt: skip


def test_every_variable_is_one_that_earmark_reads():
    known = set(VARIABLES) | {f"{v.name}_FILE" for v in VARIABLES.values() if v.secret}
    given = {name for service in OURS.values() for name in names(service)}
    asked = set(re.findall(r"\$\{([A-Z_]+)", (ROOT / "compose.yaml").read_text()))
    assert given - known == set()
    assert asked - set(VARIABLES) == set()


@pytest.mark.parametrize("name", OURS)
def test_no_secret_is_written_into_the_file(name):
    secret = {v.name for v in VARIABLES.values() if v.secret} - {"REDIS_URL"}
    assert names(OURS[name]) & secret == set()


@pytest.mark.parametrize("name", SERVICES)
def test_every_secret_that_is_read_is_given(name):
    service = SERVICES[name]
    read = {
        str(value).removeprefix("/run/secrets/")
        for variable, value in service.get("environment", {}).items()
        if variable.endswith("_FILE")
    }
    assert read <= set(service.get("secrets", []))
    assert set(service.get("secrets", [])) <= set(COMPOSE["secrets"])


def test_only_the_migration_holds_the_owners_address():
    holders = {
        name for name, service in OURS.items() if "DATABASE_OWNER_URL_FILE" in names(service)
    }
    assert holders == {"migrate"}


def test_redis_evicts_nothing_and_keeps_a_log():
    command = " ".join(SERVICES["redis"]["command"])
    assert "--maxmemory-policy noeviction" in command
    assert "--appendonly yes" in command


def test_every_queue_has_a_worker_and_beat_runs_once():
    commands = [" ".join(service["command"]) for service in OURS.values()]
    served = {queue for c in commands for queue in re.findall(r"--queues (\S+)", c)}
    routed = {route["queue"] for route in base.CELERY_TASK_ROUTES.values()}
    assert served == {base.CELERY_TASK_DEFAULT_QUEUE, *routed}
    assert sum(" beat " in command for command in commands) == 1


def test_what_staff_wait_for_shares_no_queue_with_sites():
    queues = {task: route["queue"] for task, route in base.CELERY_TASK_ROUTES.items()}
    slow = queues.pop("knowledge.sync_sources")
    assert set(queues) == {"knowledge.import_uploads", "knowledge.work_bulk"}
    assert slow not in queues.values()


def test_the_drain_is_off_unless_asked_for():
    assert [name for name, service in SERVICES.items() if service.get("profiles")] == ["drain"]


def test_nothing_starts_before_the_migration_has_ended():
    waiting = {"web", "worker", "fetcher", "staff", "beat", "drain"}
    for name in waiting:
        condition = SERVICES[name]["depends_on"]["migrate"]["condition"]
        assert condition == "service_completed_successfully"


def test_every_volume_is_declared_or_a_path():
    mounts = [m for service in SERVICES.values() for m in service.get("volumes", [])]
    sources = {mount.partition(":")[0] for mount in mounts}
    assert {s for s in sources if not s.startswith("./")} == set(COMPOSE["volumes"])
    assert (ROOT / "deploy/roles.sh").exists()


def test_the_image_copies_every_package_and_nothing_that_is_missing():
    copied = {line.split()[1] for line in DOCKERFILE.splitlines() if line.startswith("COPY ")}
    assert all((ROOT / name).exists() for name in copied)
    packages = set(base.INSTALLED_APPS) & {p.name for p in ROOT.iterdir()}
    assert packages <= copied
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {f"!{name}" for name in copied} <= set(ignored)


def test_the_secrets_are_made_once_and_kept(tmp_path):
    (tmp_path / "deploy").mkdir()
    shutil.copy(ROOT / "deploy/secrets.sh", tmp_path / "deploy/secrets.sh")
    made = []
    for _ in range(2):
        subprocess.run(["sh", str(tmp_path / "deploy/secrets.sh")], check=True)
        made.append({p.name: p.read_text() for p in (tmp_path / "secrets").iterdir()})
    assert made[0] == made[1]
    assert set(made[0]) == set(COMPOSE["secrets"])
    assert len(made[0]["secret_key"]) >= 50
    assert made[0]["app_password"] in made[0]["database_url"]


@pytest.mark.parametrize("script", ["roles.sh", "secrets.sh"])
def test_the_scripts_are_shell(script):
    subprocess.run(["sh", "-n", str(ROOT / "deploy" / script)], check=True)
