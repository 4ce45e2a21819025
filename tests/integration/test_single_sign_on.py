"""Signing in with an OpenID Connect provider that runs on this machine."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from tenants.models import User
from tests.oidc_provider import CLIENT, provider
from tests.staff import person
from tests.world import tenant

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
def ada():
    made = person("ada", (tenant("acme").organization, "viewer"))
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


def test_two_accounts_with_one_mailbox_are_none(idp, ada):
    person("second")
    User.objects.filter(username="second").update(email="ADA@example.com")
    assert sign_on(idp)[1]["Location"] == REFUSED


def test_somebody_who_was_switched_off_stays_out(idp, ada):
    User.objects.filter(pk=ada.pk).update(is_active=False)
    assert sign_on(idp)[1]["Location"] == REFUSED


def test_it_leads_only_to_pages_of_ours(idp, ada):
    assert sign_on(idp, then="https://elsewhere.example/")[1]["Location"] == "/admin/"
