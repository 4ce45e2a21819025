from __future__ import annotations

import pytest


def test_the_process_is_alive_without_a_database(client):
    assert client.get("/healthz").status_code == 200


@pytest.mark.django_db
def test_the_process_is_ready_when_the_database_answers(client):
    assert client.get("/readyz").status_code == 200


@pytest.mark.django_db
def test_the_process_is_not_ready_when_the_database_refuses(client, monkeypatch):
    from django.db import OperationalError, connection

    def refuse():
        raise OperationalError

    monkeypatch.setattr(connection, "cursor", refuse)
    assert client.get("/readyz").status_code == 503


@pytest.mark.django_db
def test_the_login_page_allows_only_its_own_scripts_and_styles(client):
    policy = client.get("/admin/login/").headers["Content-Security-Policy"]
    directives = set(policy.split("; "))
    assert {"default-src 'none'", "script-src 'self'", "style-src 'self'"} <= directives
    assert "unsafe" not in policy


@pytest.mark.django_db
def test_the_login_page_speaks_arabic_to_an_arabic_browser(client):
    page = client.get("/admin/login/", headers={"accept-language": "ar"})
    assert 'dir="rtl"' in page.content.decode()


@pytest.mark.django_db
def test_static_files_are_served_without_collecting_them(client):
    assert client.get("/static/admin/css/base.css").status_code == 200
