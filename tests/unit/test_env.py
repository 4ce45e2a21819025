from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.env import (
    env_bool,
    env_choice,
    env_database,
    env_int,
    env_list,
    env_mail,
    env_secret,
    env_str,
    env_url,
)

HTTP = frozenset({"http", "https"})


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    for name in ("ALLOWED_HOSTS", "DATABASE_URL", "DEBUG", "EMAIL_URL", "PORT", "SECRET_KEY",
                 "OPENAI_BASE_URL"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)


def test_a_variable_that_is_not_set_has_its_default():
    assert (env_int("PORT"), env_bool("DEBUG")) == (8000, False)


def test_an_empty_variable_counts_as_not_set(monkeypatch):
    monkeypatch.setenv("PORT", " ")
    assert env_int("PORT") == 8000


def test_a_variable_without_value_and_default_is_refused_by_name():
    with pytest.raises(ImproperlyConfigured, match="ALLOWED_HOSTS is not set"):
        env_str("ALLOWED_HOSTS")


def test_an_unregistered_variable_cannot_be_read():
    with pytest.raises(KeyError):
        env_str("NOT_IN_THE_REGISTRY")


@pytest.mark.parametrize(("value", "meaning"), [("1", True), ("YES", True), ("off", False)])
def test_a_switch_reads_common_words(monkeypatch, value, meaning):
    monkeypatch.setenv("DEBUG", value)
    assert env_bool("DEBUG") is meaning


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("DEBUG", "maybe", env_bool),
        ("PORT", "80a", env_int),
        ("PORT", "-1", env_int),
        ("PORT", "٨٠", env_int),
        ("PORT", "99999999999", env_int),
        ("OPENAI_BASE_URL", "ftp://host", lambda name: env_url(name, schemes=HTTP)),
        ("OPENAI_BASE_URL", "https://", lambda name: env_url(name, schemes=HTTP)),
        ("OPENAI_BASE_URL", "http://[", lambda name: env_url(name, schemes=HTTP)),
        ("EARMARK_LOG_LEVEL", "LOUD", lambda name: env_choice(name, frozenset({"INFO"}))),
        ("DATABASE_URL", "mysql://app@host/name", env_database),
        ("DATABASE_URL", "postgresql://app@host", env_database),
        ("DATABASE_URL", "postgresql://host/name", env_database),
        ("DATABASE_URL", "postgresql://app@host:port/name", env_database),
        ("EMAIL_URL", "http://mail.example", env_mail),
        ("EMAIL_URL", "smtp://", env_mail),
    ],
)
def test_a_malformed_value_is_refused_by_name(monkeypatch, name, value, read):
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=name):
        read(name)


def test_a_list_leaves_out_empty_parts(monkeypatch):
    monkeypatch.setenv("ALLOWED_HOSTS", "a.example, ,b.example,")
    assert env_list("ALLOWED_HOSTS") == ["a.example", "b.example"]


def test_a_secret_can_come_from_a_file(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("hush\n")
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))
    assert env_secret("SECRET_KEY") == "hush"


def test_a_secret_given_twice_is_refused_without_showing_it(monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_KEY", "hush")
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(ImproperlyConfigured, match="not both") as refusal:
        env_secret("SECRET_KEY")
    assert "hush" not in str(refusal.value)


@pytest.mark.parametrize("content", [None, " \n"])
def test_a_secret_file_that_is_missing_or_empty_is_refused(monkeypatch, tmp_path, content):
    if content is not None:
        (tmp_path / "key").write_text(content)
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY_FILE"):
        env_secret("SECRET_KEY")


def test_a_database_address_is_taken_apart(monkeypatch):
    monkeypatch.setenv(
        "DATABASE_URL", "postgresql://app:p%40ss%2F@db.example:6432/kb?sslmode=require"
    )
    assert env_database("DATABASE_URL") == {
        "NAME": "kb",
        "USER": "app",
        "PASSWORD": "p@ss/",
        "HOST": "db.example",
        "PORT": "6432",
        "OPTIONS": {"sslmode": "require"},
    }


def test_a_database_address_can_name_a_socket_folder(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://app@/kb?host=%2Frun%2Fpostgresql")
    entry = env_database("DATABASE_URL") or {}
    assert (entry["HOST"], entry["NAME"]) == ("/run/postgresql", "kb")


def test_no_database_address_means_no_entry():
    assert env_database("DATABASE_URL") is None


@pytest.mark.parametrize(
    ("address", "port", "secured"),
    [
        ("smtp://post:p%40ss@mail.example", 587, ("EMAIL_USE_TLS",)),
        ("smtps://post:p%40ss@mail.example", 465, ("EMAIL_USE_SSL",)),
        ("smtp+plain://post:p%40ss@mail.example:2525", 2525, ()),
    ],
)
def test_a_mail_address_is_taken_apart(monkeypatch, address, port, secured):
    monkeypatch.setenv("EMAIL_URL", address)
    server = env_mail("EMAIL_URL") or {}
    assert (server["EMAIL_HOST"], server["EMAIL_PORT"]) == ("mail.example", port)
    assert (server["EMAIL_HOST_USER"], server["EMAIL_HOST_PASSWORD"]) == ("post", "p@ss")
    assert tuple(n for n in ("EMAIL_USE_TLS", "EMAIL_USE_SSL") if server[n]) == secured


def test_no_mail_address_means_no_mail(monkeypatch):
    assert env_mail("EMAIL_URL") is None
    monkeypatch.setenv("EMAIL_URL", "none")
    assert env_mail("EMAIL_URL") is None
