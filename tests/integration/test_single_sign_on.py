"""Signing in with an OpenID Connect provider that runs on this machine."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

from tenants.models import AuditEntry, Role, User
from tenants.people.inviting import invite
from tests.integration.test_passwords import NEW, ask, choose, link
from tests.integration.test_sign_in import is_in, sign_in, with_device
from tests.oidc_provider import CLIENT, provider
from tests.staff import browser, person
from tests.world import BY, tenant

pytestmark = pytest.mark.django_db
REFUSED = "/people/sign-on/refused/"
CONFIRMED = {"sub": "1", "email": "Ada@Example.com", "email_verified": True}


@pytest.fixture
def idp(settings):
    with provider() as made:
        settings.ROOT_URLCONF = "tests.sign_on_urls"
        settings.AUTHENTICATION_BACKENDS = [
            *settings.AUTHENTICATION_BACKENDS,
            "tenants.people.signing_on.SignOnBackend",
        ]
        settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = CLIENT, "hush"
        settings.OIDC_RP_SIGN_ALGO, settings.OIDC_RP_SCOPES = "RS256", "openid email"
        settings.OIDC_USE_PKCE, settings.OIDC_CREATE_USER = True, False
        settings.LOGIN_REDIRECT_URL, settings.LOGIN_REDIRECT_URL_FAILURE = "admin:index", REFUSED
        for name, value in made.settings().items():
            setattr(settings, name, value)
        made.claims = CONFIRMED
        yield made


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def ada(acme):
    made = person("ada", (acme.organization, "viewer"))
    User.objects.filter(pk=made.pk).update(email="ada@example.com")
    return made


def sign_on(idp, then="/admin/knowledge/item/"):
    """Go the whole way of a browser, without the provider's own page."""
    client = Client()
    away = client.get("/people/sign-on/authenticate/", {"next": then})
    asked = {name: value[0] for name, value in parse_qs(urlsplit(away["Location"]).query).items()}
    idp.nonce = asked["nonce"]
    back = {"code": "c", "state": asked["state"]}
    return client, client.get("/people/sign-on/callback/", back), asked


def test_whoever_the_provider_knows_comes_in_where_they_wanted(idp, ada):
    client, answer, asked = sign_on(idp)
    assert answer["Location"] == "/admin/knowledge/item/"
    assert client.get("/admin/").status_code == 200
    assert (asked["client_id"], asked["scope"]) == (CLIENT, "openid email")
    assert asked["code_challenge_method"] == "S256"
    assert idp.asked[0]["code_verifier"]


def test_the_sign_in_page_offers_it_only_where_there_is_a_provider(idp, settings):
    assert "/people/sign-on/authenticate/" in Client().get("/admin/login/").content.decode()
    settings.ROOT_URLCONF = "config.urls"
    assert "sign-on" not in Client().get("/admin/login/").content.decode()


@pytest.mark.parametrize(
    "claims",
    [
        CONFIRMED | {"email_verified": False},
        {"sub": "1", "email": "ada@example.com"},
        {"sub": "1", "email_verified": True},
        CONFIRMED | {"email": "nobody@example.com"},
    ],
)
def test_an_unknown_or_unconfirmed_mailbox_is_refused_and_makes_no_account(idp, ada, claims):
    idp.claims = claims
    before = User.objects.count()
    client, answer, _ = sign_on(idp)
    assert answer["Location"] == REFUSED
    assert (client.get("/admin/").status_code, User.objects.count()) == (302, before)
    page = client.get(REFUSED)
    assert (page.status_code, "Ask an administrator" in page.content.decode()) == (403, True)


@pytest.mark.parametrize(
    "token", [{"aud": "somebody-else"}, {"nonce": "another"}, {"exp": 1}, {"aud": ["x", "y"]}]
)
def test_a_token_that_was_not_made_for_this_sign_in_is_refused(idp, ada, token):
    idp.token = token
    assert sign_on(idp)[1]["Location"] == REFUSED


def test_a_token_signed_by_somebody_else_is_refused(idp, ada, monkeypatch):
    with provider() as other:
        monkeypatch.setattr(idp, "_id_token", lambda: _with_nonce(other, idp.nonce))
        assert sign_on(idp)[1]["Location"] == REFUSED


def _with_nonce(other, nonce):
    other.nonce = nonce
    return other._id_token()


def test_a_provider_that_is_away_lets_nobody_in_and_breaks_nothing(idp, ada):
    idp.status = 500
    assert sign_on(idp)[1]["Location"] == REFUSED


def twin():
    made = person("second")
    User.objects.filter(pk=made.pk).update(email="ADA@example.com")
    return made


def who(client):
    return client.get("/admin/").context["user"].get_username()


def test_two_accounts_with_one_mailbox_that_neither_has_shown_are_none(idp, ada):
    twin()
    assert sign_on(idp)[1]["Location"] == REFUSED


def test_an_account_that_only_names_the_mailbox_does_not_keep_its_owner_out(idp, ada):
    sign_on(idp)
    twin()
    assert who(sign_on(idp)[0]) == "ada"


def test_a_new_password_by_mail_says_which_of_two_accounts_it_is(idp, ada):
    ask()
    choose(link())
    twin()
    assert who(sign_on(idp)[0]) == "ada"


def test_two_accounts_whose_mailbox_was_shown_are_none(idp, ada):
    sign_on(idp)
    second = twin()
    User.objects.filter(pk=second.pk).update(proven_email="ADA@example.com")
    assert sign_on(idp)[1]["Location"] == REFUSED


def test_whoever_made_the_account_from_somebody_elses_invitation_is_out_once_they_sign_on(
    idp, acme
):
    made = invite(acme.organization, "ada@example.com", Role.VIEWER, by=BY, at=timezone.now())
    stranger, chosen = Client(), "a quite long sentence"
    form = {"username": "ada", "password1": chosen, "password2": chosen}
    stranger.post(f"/people/join/{made.token}/", form)
    assert who(stranger) == "ada"
    assert who(sign_on(idp)[0]) == "ada"
    assert stranger.get("/admin/").status_code == 302
    assert not is_in(sign_in(password=chosen)[1])


def test_a_second_factor_from_before_ends_with_the_first_sign_on(idp, ada):
    with_device(ada)
    sign_on(idp)
    ada.refresh_from_db()
    assert not ada.has_second_factor
    assert not TOTPDevice.objects.exists()


def test_the_first_sign_on_is_in_the_audit_trail_and_the_next_ones_are_not(idp, ada, acme):
    sign_on(idp)
    sign_on(idp)
    with acme.context():
        (entry,) = AuditEntry.objects.filter(verb="person.first_sign_on")
    assert (entry.actor_label, entry.before["password"]) == ("ada", True)


def test_a_password_that_came_by_mail_goes_on_working(idp, ada):
    ask()
    choose(link())
    sign_on(idp)
    assert is_in(sign_in(password=NEW)[1])


def test_whoever_signed_on_gets_a_password_again_by_mail(idp, ada):
    sign_on(idp)
    ask()
    choose(link())
    sign_on(idp)
    assert is_in(sign_in(password=NEW)[1])


def test_an_account_without_a_password_gets_none_by_signing_on(idp, ada):
    ada.set_unusable_password()
    ada.save()
    sign_on(idp)
    ada.refresh_from_db()
    assert not ada.has_usable_password()


def test_a_mailbox_that_was_changed_has_to_be_shown_again(idp, ada):
    sign_on(idp)
    ada.refresh_from_db()
    ada.email = "lovelace@example.com"
    ada.set_password(NEW)
    ada.save()
    before = browser(ada)
    idp.claims = CONFIRMED | {"email": "lovelace@example.com"}
    assert who(sign_on(idp)[0]) == "ada"
    assert before.get("/admin/").status_code == 302


@pytest.mark.parametrize(
    "claimed", ["iris@example.com", "\u0131r\u0131s@example.com", "iri\u017f@example.com"]
)
def test_letters_that_a_database_takes_for_one_another_are_different_mailboxes(idp, ada, claimed):
    User.objects.filter(pk=ada.pk).update(email="iris@example.com")
    idp.claims = CONFIRMED | {"email": claimed}
    assert (sign_on(idp)[1]["Location"] == REFUSED) is (claimed != "iris@example.com")


def test_somebody_who_was_switched_off_stays_out(idp, ada):
    User.objects.filter(pk=ada.pk).update(is_active=False)
    assert sign_on(idp)[1]["Location"] == REFUSED


def test_it_leads_only_to_pages_of_ours(idp, ada):
    assert sign_on(idp, then="https://elsewhere.example/")[1]["Location"] == "/admin/"
