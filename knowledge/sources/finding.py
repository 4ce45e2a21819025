"""What a site says of itself: what may be read, its sitemap, and the links on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urldefrag, urljoin
from urllib.robotparser import RobotFileParser

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from knowledge.sources.addresses import split
from knowledge.sources.errors import PageUnavailable, SourceTrouble
from knowledge.sources.fetching import AGENT, Fetcher
from knowledge.sources.reach import Place, lies_below

MOST_PAGES: Final = 5_000
MOST_SITEMAPS: Final = 50
# Links beyond this are not looked for: reading them must not take longer than the page is worth.
LINKS_WITHIN: Final = 1024 * 1024
LONGEST_ADDRESS: Final = 2_000
LONGEST_DELAY_S: Final = 10.0


class Robots:
    """What a site's robots.txt allows us."""

    def __init__(self, fetcher: Fetcher, start: str) -> None:
        self._rules = RobotFileParser()
        found = fetcher.get(urljoin(start, "/robots.txt"))
        if found.status >= 500 or found.status == 429:
            # A site that cannot say what it allows is left alone for now.
            raise PageUnavailable(f"robots.txt answers {found.status}.")
        self._rules.parse(found.body.decode("utf-8", "replace").splitlines())

    def allows(self, url: str) -> bool:
        """Whether a page may be read."""
        return self._rules.can_fetch(AGENT, url)

    @property
    def sitemaps(self) -> list[str]:
        """The sitemaps it names."""
        return list(self._rules.site_maps() or ())

    @property
    def delay_s(self) -> float:
        """Seconds it wants between two pages."""
        return min(LONGEST_DELAY_S, float(self._rules.crawl_delay(AGENT) or 0))


@dataclass(frozen=True)
class Listed:
    """The pages that sitemaps list of a source; not whole where they list more than is read."""

    pages: list[str]
    is_whole: bool


def listed_pages(fetcher: Fetcher, sitemap: str, prefix: Place) -> Listed:
    """Return the pages below the prefix that a sitemap and those it names list, in its order.

    Raises: SourceTrouble
    """
    maps: dict[str, None] = {sitemap: None}
    pages: dict[str, None] = {}
    read = 0
    while read < min(len(maps), MOST_SITEMAPS) and len(pages) <= MOST_PAGES:
        found = fetcher.get(list(maps)[read])
        if found.status != 200:
            raise PageUnavailable(f"The sitemap answers {found.status}.")
        for is_map, address in _entries(found.body):
            if is_map:
                maps.setdefault(address)
            else:
                pages.update(dict.fromkeys(_below(prefix, address)))
        read += 1
    return Listed(list(pages)[:MOST_PAGES], read == len(maps) and len(pages) <= MOST_PAGES)


def _below(prefix: Place, address: str) -> list[str]:
    return [page for page in _readable([address]) if lies_below(page, prefix)]


def _entries(body: bytes) -> Iterator[tuple[bool, str]]:
    try:
        root = fromstring(body, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise SourceTrouble("The sitemap cannot be read.") from error
    is_index = root.tag.rpartition("}")[2] == "sitemapindex"
    for place in root.iter():
        if place.tag.rpartition("}")[2] == "loc" and place.text:
            yield is_index, place.text.strip()


def links_of(url: str, body: bytes) -> list[str]:
    """Return the addresses a page links to, in order."""
    parser = _Links()
    parser.feed(body[:LINKS_WITHIN].decode("utf-8", "replace"))
    base = urljoin(url, parser.base) if parser.base else url
    return list(dict.fromkeys(_readable(parser.found, base)))


def _readable(links: Iterable[str], base: str = "") -> Iterator[str]:
    for link in links:
        try:
            yield normal(urljoin(base, link))
        except (ValueError, SourceTrouble):
            continue


def normal(url: str) -> str:
    """Return an address without the part behind #, with a path.

    Raises: AddressRefused
    """
    bare = urldefrag(url).url
    parts = split(bare)
    return parts._replace(netloc=parts.netloc.lower(), path=parts.path or "/").geturl()


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.base = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if not href or len(href) > LONGEST_ADDRESS:
            return
        if tag == "a":
            self.found.append(href.strip())
        elif tag == "base":
            self.base = href.strip()
