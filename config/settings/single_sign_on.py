"""Single sign-on with an OpenID Connect provider, where one is named."""

from __future__ import annotations

from typing import Any, Final

from config.env import env_optional, env_secret, env_str, env_url

_HTTP: Final = frozenset({"https", "http"})
_ADDRESSES: Final = {
    "OIDC_OP_AUTHORIZATION_ENDPOINT": "OIDC_AUTHORIZATION_URL",
    "OIDC_OP_TOKEN_ENDPOINT": "OIDC_TOKEN_URL",
    "OIDC_OP_USER_ENDPOINT": "OIDC_USER_URL",
    "OIDC_OP_JWKS_ENDPOINT": "OIDC_KEYS_URL",
}


def single_sign_on() -> dict[str, Any]:
    """The settings of the provider; empty when OIDC_CLIENT_ID is not set.

    Raises: ImproperlyConfigured when one of its addresses or the secret is missing
    """
    client = env_optional("OIDC_CLIENT_ID")
    if client is None:
        return {}
    addresses = {}
    for setting, variable in _ADDRESSES.items():
        addresses[setting] = env_url(variable, schemes=_HTTP) or env_str(variable)
    return {
        **addresses,
        "OIDC_RP_CLIENT_ID": client,
        "OIDC_RP_CLIENT_SECRET": env_secret("OIDC_CLIENT_SECRET") or env_str("OIDC_CLIENT_SECRET"),
        "OIDC_RP_SIGN_ALGO": "RS256",
        "OIDC_RP_SCOPES": "openid email",
        "OIDC_USE_PKCE": True,
        "OIDC_TIMEOUT": 10,
        "OIDC_CREATE_USER": False,
        "LOGIN_REDIRECT_URL": "admin:index",
        "LOGIN_REDIRECT_URL_FAILURE": "/people/sign-on/refused/",
    }
