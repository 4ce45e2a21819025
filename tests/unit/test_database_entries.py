"""What a connection asks for, and that the address of the database has the last word."""

from __future__ import annotations

import pytest

from config.database.entries import databases


@pytest.fixture
def options(monkeypatch):
    def told(query: str = "") -> dict[str, object]:
        monkeypatch.delenv("DATABASE_URL_FILE", raising=False)
        monkeypatch.setenv("DATABASE_URL", f"postgresql://app:none@db.invalid/earmark{query}")
        entry: dict[str, object] = databases(embedded=None)["default"]["OPTIONS"]
        return entry

    return told


def test_a_server_that_takes_no_writes_is_not_connected_to(options):
    assert options()["target_session_attrs"] == "read-write"


def test_a_host_that_has_vanished_is_noticed(options):
    told = options()
    assert (told["keepalives"], told["keepalives_idle"], told["tcp_user_timeout"]) == (1, 5, 5000)


def test_the_address_has_the_last_word(options):
    told = options("?target_session_attrs=any&keepalives_idle=60&tcp_user_timeout=0")
    wanted = {"target_session_attrs": "any", "keepalives_idle": "60", "tcp_user_timeout": "0"}
    assert wanted.items() <= told.items()
