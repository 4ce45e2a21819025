"""The pages of a site or a list: each asked with what is known of it, main text read in the sandbox."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urljoin, urlsplit

from knowledge.ingestion.errors import Unreadable
from knowledge.ingestion.gathering import FileDone, Gathered
from knowledge.ingestion.readers.parsed import FailedPart, Reading
from knowledge.ingestion.remembering import reader_version
from knowledge.ingestion.rows import Failed, Origin, Row, shortened
from knowledge.ingestion.sandbox import Sandbox
from knowledge.models import SourcePage, SourceSchedule, SyncKind
from knowledge.sources.errors import PageUnavailable, SourceMisconfigured, SourceTrouble
from knowledge.sources.fetching import Fetched, Fetcher
from knowledge.sources.finding import MOST_PAGES, Robots, links_of, listed_pages, normal
from knowledge.sources.reach import Place, lies_below, place_of, prefix_of
from tenants.isolation import organization_context

LONGEST_RUN_S: Final = 3600.0
# Signs of a page's hash that say what read it.
READER: Final = 16
GONE: Final = frozenset({404, 410})
_NAMES: Final = {
    "text/html": "page.html", "application/xhtml+xml": "page.html", "text/plain": "page.txt",
    "text/markdown": "page.md", "application/pdf": "page.pdf",
}  # fmt: skip


@dataclass
class Crawl:
    """One look at a site.

    Shape: `kept` are pages that have not changed, `outside` those that lead out of the source, `known`
    what was seen before.
    """

    schedule: SourceSchedule
    fetcher: Fetcher
    sandbox: Sandbox
    known: dict[str, SourcePage]
    live: frozenset[str]
    kept: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    seen: list[SourcePage] = field(default_factory=list)
    is_certain: bool = True
    # Whether pages are found by the links to them, and not by a sitemap or a list.
    follows: bool = False
    began: float = field(default_factory=time.monotonic)

    def gathered(self) -> Iterator[Gathered | FileDone]:
        """Yield rows of the pages that are new or have changed.

        Raises: SourceTrouble when the site itself cannot be looked at
        """
        robots = Robots(self.fetcher, self._start)
        self.follows = self.schedule.kind == SyncKind.SITE and not self._sitemap(robots)
        waiting = deque(self._first(robots))
        met = set(waiting)
        while waiting:
            if time.monotonic() - self.began > LONGEST_RUN_S:
                self.is_certain = False
                return
            url = waiting.popleft()
            if not robots.allows(url):
                continue
            yield from self._page(url)
            found = [link for link in self._links(url) if link not in met]
            self.is_certain = self.is_certain and len(met) + len(found) <= MOST_PAGES
            waiting.extend(found[: MOST_PAGES - len(met)])
            met.update(found[: MOST_PAGES - len(met)])
            time.sleep(robots.delay_s)

    def _links(self, url: str) -> list[str]:
        page = self.known.get(url)
        links = page.links if self.follows and page else ()
        return [link for link in links if lies_below(link, self._prefix)]

    @property
    def _start(self) -> str:
        config = self.schedule.config
        first = config.get("start") or next(iter(config.get("urls") or ()), "")
        if not first:
            raise SourceMisconfigured
        return normal(str(first))

    @cached_property
    def _prefix(self) -> Place:
        said = self.schedule.config.get("prefix")
        prefix = prefix_of(str(said) if said else urljoin(self._start, "."))
        if not lies_below(self._start, prefix):
            raise SourceMisconfigured('"start" lies below "prefix".')
        return prefix

    def _holds(self, asked: str, found: str) -> bool:
        """Whether what was asked for is still of this source where it was found."""
        if self.schedule.kind == SyncKind.URLS:
            return place_of(found).origin == place_of(asked).origin
        return lies_below(found, self._prefix)

    def _first(self, robots: Robots) -> list[str]:
        if self.schedule.kind == SyncKind.URLS:
            return [normal(str(url)) for url in self.schedule.config.get("urls") or ()]
        # Asked for here: what is wrong with it is told of the source, not of each page.
        prefix, sitemap = self._prefix, self._sitemap(robots)
        if not sitemap:
            return [self._start]
        listed = listed_pages(self.fetcher, sitemap, prefix)
        self.is_certain = self.is_certain and listed.is_whole
        return listed.pages

    def _sitemap(self, robots: Robots) -> str:
        # `false` in the configuration: crawl, although there is a sitemap.
        said = self.schedule.config.get("sitemap")
        if said is False:
            return ""
        return str(said or next(iter(robots.sitemaps), ""))

    def _page(self, url: str) -> Iterator[Gathered | FileDone]:
        try:
            fetched = self.fetcher.get(url, self._conditions(url))
            if not self._holds(url, fetched.url):
                # What was brought in from there before has gone, although it is told as a failure.
                self.outside.add(shortened(url))
                yield Gathered(Failed(Origin(url), _leads_away(fetched), shortened(url)))
            elif fetched.status in GONE:
                return
            elif fetched.status == 304:
                self._keep(url)
            elif fetched.status == 200:
                yield from self._read(url, fetched)
            else:
                raise PageUnavailable(f"It answers {fetched.status}.")
        except (SourceTrouble, Unreadable) as error:
            # It may be there again next time, and what it links to may be there all along.
            self.is_certain = self.is_certain and not self.follows
            yield Gathered(Failed(Origin(url), error, shortened(url)))
        yield FileDone(url)

    def _conditions(self, url: str) -> dict[str, str]:
        page = self.known.get(url)
        is_read = page and page.content_sha256.startswith(_reader())
        if page is None or not is_read or shortened(url) not in self.live:
            return {}
        said = {"If-None-Match": page.etag, "If-Modified-Since": page.last_modified}
        return {name: value for name, value in said.items() if value}

    def _keep(self, url: str) -> None:
        self.kept.add(shortened(url))

    def _read(self, url: str, fetched: Fetched) -> Iterator[Gathered]:
        digest = _digest(fetched.body)
        before = self.known.get(url)
        is_html = _NAMES.get(fetched.kind, "").endswith(".html")
        page = SourcePage(
            organization_id=self.schedule.organization_id,
            schedule=self.schedule,
            url=url,
            etag=fetched.etag,
            last_modified=fetched.last_modified,
            content_sha256=digest,
            links=links_of(fetched.url, fetched.body) if is_html else [],
        )
        self.known[url] = page
        if before and before.content_sha256 == digest and shortened(url) in self.live:
            self._keep(url)
        else:
            yield from self._rows(url, fetched)
        self.seen.append(page)

    def _rows(self, url: str, fetched: Fetched) -> Iterator[Gathered]:
        name = _NAMES.get(fetched.kind)
        if name is None:
            raise PageUnavailable(f"It is {fetched.kind or 'of no kind'}, not a page.")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(fetched.body)
            for reading in self.sandbox.read(str(path), name):
                yield Gathered(_row(url, reading), len(fetched.body))


def _reader() -> str:
    return reader_version()[:READER]


def _digest(body: bytes) -> str:
    """Return a hash of a page and of what reads it, because another reader may read the same page otherwise."""
    return (_reader() + hashlib.sha256(body).hexdigest())[:64]


def _leads_away(fetched: Fetched) -> PageUnavailable:
    return PageUnavailable(f"It leads to {fetched.url}, which is not part of this source.")


def _row(url: str, reading: Reading) -> Row | Failed:
    origin, external_id = Origin(url), shortened(url)
    if isinstance(reading, FailedPart):
        return Failed(origin, reading.error, external_id)
    said: dict[str, Any] = {**reading.labels, "url": url}
    return Row(origin, external_id, reading.title, reading.body, folder_of(url), said)


def folder_of(url: str) -> str:
    """Return where a page is filed: the folders of its path."""
    names = unquote(urlsplit(url).path, errors="replace").split("/")[:-1]
    return "/".join(name.strip()[:200] for name in names if name.strip() not in {"", ".", ".."})


def keep_pages(crawl: Crawl, refused: Set[str], *, at: Any) -> None:
    """Remember what was seen of the pages that came in; what was refused is read again next time."""
    taken = [page for page in crawl.seen if shortened(page.url) not in refused]
    for page in taken:
        page.seen_at = at
    with organization_context(crawl.schedule.organization_id):
        SourcePage.objects.bulk_create(
            taken,
            batch_size=200,
            update_conflicts=True,
            unique_fields=["organization", "schedule", "url"],
            update_fields=["etag", "last_modified", "content_sha256", "links", "seen_at"],
        )
