from __future__ import annotations

import os
import subprocess
import sys

import pytest

from config.private import ROOT

GOOD = {
    "SECRET_KEY": "fW9rQ2xVb7mKp3ZsT8yHn5DcJ1gLaE6uRv0XoBiNqMtPzSkYhG4wCdFj",
    "ALLOWED_HOSTS": "earmark.example",
    "DATABASE_URL": "postgresql://app:x@db.example/earmark",
}


def start(**changes):
    environment = {**GOOD, **changes, "PATH": os.environ["PATH"]}
    return subprocess.run(
        [sys.executable, "-c", "import config.settings.prod"],
        cwd=ROOT,
        env={name: value for name, value in environment.items() if value is not None},
        capture_output=True,
        text=True,
        check=False,
    )


def test_production_starts_with_everything_it_needs():
    assert start().returncode == 0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"SECRET_KEY": None}, "SECRET_KEY (or SECRET_KEY_FILE) is required in production."),
        ({"SECRET_KEY": "short"}, "SECRET_KEY is too weak"),
        ({"SECRET_KEY": "ab" * 40}, "SECRET_KEY is too weak"),
        ({"SECRET_KEY": "django-insecure-" + GOOD["SECRET_KEY"]}, "SECRET_KEY is a placeholder"),
        ({"ALLOWED_HOSTS": None}, "ALLOWED_HOSTS must name the hosts"),
        ({"ALLOWED_HOSTS": "*"}, "ALLOWED_HOSTS must name the hosts"),
        ({"DATABASE_URL": None}, "DATABASE_URL (or DATABASE_URL_FILE) is required"),
        ({"DEBUG": "1"}, "DEBUG must not be set in production."),
    ],
)
def test_production_refuses_to_start_half_configured(changes, sentence):
    refused = start(**changes)
    assert refused.returncode == 1
    assert sentence in refused.stderr


SIGN_ON = {
    "OIDC_CLIENT_ID": "earmark",
    "OIDC_CLIENT_SECRET": "hush",
    "OIDC_AUTHORIZATION_URL": "https://login.example/authorize",
    "OIDC_TOKEN_URL": "https://login.example/token",
    "OIDC_USER_URL": "https://login.example/userinfo",
    "OIDC_KEYS_URL": "https://login.example/keys",
}


def test_production_starts_with_single_sign_on_as_documented():
    written = (ROOT / "docs/people.md").read_text()
    assert all(f"{name}=" in written for name in SIGN_ON)
    assert start(**SIGN_ON).returncode == 0


@pytest.mark.parametrize("missing", [name for name in SIGN_ON if name != "OIDC_CLIENT_ID"])
def test_production_refuses_half_a_provider(missing):
    refused = start(**SIGN_ON | {missing: None})
    assert refused.returncode == 1
    assert missing in refused.stderr
