"""Which addresses lie below a prefix: the host ends where it ends, and a folder too."""

from __future__ import annotations

import pytest

from knowledge.sources.addresses import public_address
from knowledge.sources.errors import AddressRefused, SourceMisconfigured
from knowledge.sources.reach import lies_below, place_of, prefix_of

SITE = "https://docs.example.com"


@pytest.mark.parametrize(
    ("prefix", "url"),
    [
        (SITE, f"{SITE}/"),
        (SITE, f"{SITE}/help/a?b=c"),
        (SITE, "HTTPS://DOCS.Example.COM/help"),
        (SITE, f"{SITE}:443/help"),
        (f"{SITE}:443", f"{SITE}/help"),
        ("HTTPS://Docs.Example.com:443/help", f"{SITE}/help/a"),
        ("http://docs.example.com:80/", "http://docs.example.com/a"),
        (f"{SITE}/help", f"{SITE}/help"),
        (f"{SITE}/help", f"{SITE}/help/a"),
        (f"{SITE}/help", f"{SITE}/help?page=2"),
        (f"{SITE}/help/", f"{SITE}/help/a"),
        (f"{SITE}/%68elp/", f"{SITE}/help/a"),
        (f"{SITE}/مساعدة/", f"{SITE}/%D9%85%D8%B3%D8%A7%D8%B9%D8%AF%D8%A9/a"),
        (f"{SITE}/help/", f"{SITE}/help/a..b/...c"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/a"),
        ("https://BÜCHER.example/", "https://bücher.example/a"),
        ("https://docs。example。com/", f"{SITE}/a"),
        ("https://[2001:db8::1]/", "https://[2001:DB8::1]:443/a"),
    ],
)
def test_it_lies_below(prefix, url):
    assert lies_below(url, prefix_of(prefix))


@pytest.mark.parametrize(
    ("prefix", "url"),
    [
        (SITE, "https://docs.example.com.evil.net/"),
        (SITE, "https://docs.example.community/"),
        (SITE, f"{SITE}@evil.net/"),
        (SITE, f"{SITE}:443@evil.net/"),
        (SITE, f"{SITE}\\@evil.net/"),
        (SITE, "https://evil.net\\.docs.example.com/"),
        (SITE, "https://evil.net#.docs.example.com/"),
        (SITE, "https://evil.net/docs.example.com/"),
        (SITE, "https://docs.example.com%2eevil.net/"),
        (SITE, "https://docs%2eexample.com/"),
        (SITE, "https://docs.example.com./"),
        (SITE, "http://docs.example.com/"),
        (SITE, f"{SITE}:8443/"),
        (SITE, f"{SITE}:4430/"),
        (SITE, f"{SITE}:99999/"),
        (SITE, "https://example.com/"),
        (SITE, "ftp://docs.example.com/"),
        (SITE, "//docs.example.com/"),
        (SITE, ""),
        (f"{SITE}/help", f"{SITE}/help-old/a"),
        (f"{SITE}/help", f"{SITE}/"),
        (f"{SITE}/help", f"{SITE}/HELP/a"),
        (f"{SITE}/help/", f"{SITE}/help/../press"),
        (f"{SITE}/help/", f"{SITE}/help/%2e%2e/press"),
        (f"{SITE}/help/", f"{SITE}/help/%2E./press"),
        (f"{SITE}/help/", f"{SITE}/help/%252e%252e/press"),
        (f"{SITE}/help/", f"{SITE}/help/..%2fpress"),
        (f"{SITE}/help/", f"{SITE}/help/..%5cpress"),
        (f"{SITE}/help/", f"{SITE}/help/..;/press"),
        # A letter that looks the same, and one that an older rule writes as another.
        ("https://apple.example/", "https://аpple.example/"),
        ("https://faß.example/", "https://fass.example/"),
    ],
)
def test_it_does_not_lie_below(prefix, url):
    assert not lies_below(url, prefix_of(prefix))


@pytest.mark.parametrize("prefix", [f"{SITE}/help?page=", f"{SITE}/help#part"])
def test_a_prefix_has_nothing_behind_its_path(prefix):
    with pytest.raises(SourceMisconfigured):
        prefix_of(prefix)


def test_the_host_that_is_compared_is_the_one_that_is_looked_up(settings, monkeypatch):
    settings.SOURCES_MAY_BE_PRIVATE = True
    asked = []

    def look_up(host, port, **_kind):
        asked.append((host, port))
        return [(None, None, None, "", ("127.0.0.1", port))]

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    public_address("https://FAß.example/")
    assert asked == [place_of("https://faß.example/").origin[1:]]
    assert asked == [("xn--fa-hia.example", 443)]


@pytest.mark.parametrize("url", [f"{SITE}/a/../b", f"{SITE}@evil.net/", "help"])
def test_what_is_no_plain_address_is_refused(url):
    with pytest.raises(AddressRefused):
        place_of(url)
