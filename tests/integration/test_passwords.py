"""A new password by mail, and what it leaves as it was: limits, second factors, other people."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from tenants.models import AuditEntry, User
from tenants.people import mailing
from tenants.people.attempts import Allowance
from tests.integration.test_sign_in import code_of, is_in, sign_in, with_device
from tests.staff import browser, person
from tests.world import tenant

pytestmark = pytest.mark.django_db
NEW = "an even longer sentence"


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def ada(acme):
    made = person("ada", (acme.organization, "viewer"))
    User.objects.filter(pk=made.pk).update(email="ada@example.com")
    return made


def ask(email="ada@example.com", address="10.0.0.1"):
    answer = Client(REMOTE_ADDR=address).post("/people/password/", {"email": email})
    mailing.settled()
    return answer


def link():
    (found,) = re.findall(r"http://testserver(/people/password/\S+)", str(mail.outbox[-1].body))
    return found


def choose(address, password=NEW):
    client = Client()
    form = client.get(address)
    if form.status_code != 302:
        return form
    sent = {"new_password1": password, "new_password2": password}
    return client.post(form.headers["Location"], sent)


def test_a_link_comes_by_mail_and_sets_the_password(ada):
    ask()
    assert choose(link()).headers["Location"] == "/people/password/done/"
    assert not is_in(sign_in()[1])
    assert is_in(sign_in(password=NEW)[1])


def test_a_mailbox_that_only_looks_alike_gets_no_mail(ada):
    User.objects.update(email="iris@example.com")
    for alike in ("iri\u017f@example.com", "\u0131ris@example.com"):
        assert ask(alike).status_code == 302
    assert mail.outbox == []
    ask("IRIS@example.com")
    assert len(mail.outbox) == 1


def test_the_answer_does_not_tell_whether_there_is_an_account(ada):
    known, unknown = ask(), ask("nobody@example.com")
    assert (known.status_code, known.headers["Location"]) == (302, "/people/password/sent/")
    assert (unknown.status_code, unknown.headers["Location"]) == (302, "/people/password/sent/")
    assert len(mail.outbox) == 1


def test_nobody_waits_for_the_mail_server(ada, settings):
    settings.EMAIL_BACKEND = "tests.integration.nowhere.EmailBackend"
    assert ask().status_code == 302


def test_a_link_works_once(ada):
    ask()
    first = link()
    choose(first)
    assert "This link does not work" in choose(first).content.decode()


def test_a_link_runs_out(ada, settings):
    ask()
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert "This link does not work" in choose(link()).content.decode()


def test_a_link_says_nothing_of_whom_it_was_for(ada):
    pages = [choose(f"/people/password/{uid}/abc-def/") for uid in ("MQ", "OTk5OTk5", "!")]
    texts = [re.sub(r'value="[^"]*"', "", page.content.decode()) for page in pages]
    assert {page.status_code for page in pages} == {200}
    assert all("ada" not in text for text in texts)


def test_a_weak_password_is_refused(ada):
    ask()
    assert "too short" in choose(link(), "short").content.decode()
    assert is_in(sign_in()[1])


def test_sessions_end_with_the_old_password(ada):
    before = browser(ada)
    ask()
    choose(link())
    assert before.get("/admin/").status_code == 302


def test_a_second_factor_is_still_asked_for(ada):
    with_device(ada)
    ask()
    choose(link())
    assert not is_in(sign_in(password=NEW)[1])
    assert is_in(sign_in(password=NEW, token=code_of(ada))[1])


def test_guesses_of_others_are_forgiven_with_the_new_password(ada):
    User.objects.update(guesses_until=timezone.now() + timedelta(hours=1))
    for _ in range(5):
        sign_in(password="wrong")
    ask()
    choose(link())
    assert is_in(sign_in(password=NEW)[1])


def test_it_is_in_the_audit_trail_of_every_organization_of_the_person(ada, acme):
    ask()
    choose(link())
    with acme.context():
        (entry,) = AuditEntry.objects.filter(verb="person.password_reset")
    assert entry.actor_label == "ada"


def test_somebody_who_was_switched_off_gets_no_link(ada):
    User.objects.update(is_active=False)
    assert ask().status_code == 302
    assert mail.outbox == []


def test_one_mailbox_is_not_filled_and_nothing_says_so(ada, monkeypatch):
    monkeypatch.setattr(
        "tenants.people.passwords.RESETS_SENT", Allowance("r", timedelta(hours=1), 2)
    )
    answers = {ask(address=f"10.0.0.{n}").status_code for n in range(4)}
    assert (answers, len(mail.outbox)) == ({302}, 2)


def test_one_address_cannot_ask_without_end(ada, monkeypatch):
    monkeypatch.setattr(
        "tenants.people.passwords.RESETS_ASKED", Allowance("a", timedelta(hours=1), 2)
    )
    assert [ask(f"{n}@example.com").status_code for n in range(3)] == [302, 302, 429]
    assert ask(address="10.0.0.2").status_code == 302


def test_without_a_mail_server_the_page_says_whom_to_ask(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    assert "Ask whoever runs it" in Client().get("/people/password/").content.decode()


def test_the_sign_in_page_leads_to_it():
    assert 'href="/people/password/"' in Client().get("/admin/login/").content.decode()


def test_a_password_is_changed_with_the_old_one(ada):
    client = browser(ada)
    sent = {"old_password": "wrong", "new_password1": NEW, "new_password2": NEW}
    assert client.post("/admin/password_change/", sent).status_code == 200
    sent["old_password"] = "a long enough word"
    assert client.post("/admin/password_change/", sent).status_code == 302
    assert client.get("/admin/").status_code == 200
    assert is_in(sign_in(password=NEW)[1])
