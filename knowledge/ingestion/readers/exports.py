"""Articles as help desks export them in JSON: Zendesk Guide and Intercom."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Final

from knowledge.errors import KnowledgeError
from knowledge.ingestion.errors import Malformed, RowRefused, UnsupportedFormat
from knowledge.ingestion.readers.encodings import decode
from knowledge.ingestion.readers.html import markdown_of
from knowledge.ingestion.readers.nesting import Inner
from knowledge.ingestion.readers.parsed import FailedPart, ParsedText, Reading, hints, parsed

Article = Mapping[str, Any]
# Where the programs' interfaces say of a page what is not on it.
PAGING: Final = ("pages", "meta", "links")
ELSEWHERE: Final = ("next_page", "previous_page", "next", "prev", "has_more")
COUNTS: Final = ("count", "total_count")


def read_export(_name: str, data: bytes, _inner: Inner) -> Iterable[Reading]:
    """Yield every published article; drafts are left out as if they were not there.

    A page of a longer list is read, and says that it is not all.

    Raises: BinaryContent, UnknownEncoding, Malformed, UnsupportedFormat
    """
    try:
        said = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise Malformed("It is no JSON.") from error
    if _is_list_of_articles(said, "articles"):
        return chain(_zendesk(said), _others(said, said["articles"]))
    if _is_list_of_articles(said, "data"):
        return chain(_intercom(said), _others(said, said["data"]))
    raise UnsupportedFormat("It is JSON, and no export of a help desk that we know.")


def _others(said: Article, articles: Sequence[Any]) -> Iterator[Reading]:
    """Yield a failure without a key where there are pages beside this one: what they hold is not gone."""
    pages = (said, *(said[key] for key in PAGING if isinstance(said.get(key), dict)))
    more = any(page.get(key) for page in pages for key in ELSEWHERE)
    counts = [page.get(key) for page in pages for key in COUNTS]
    if more or any(isinstance(count, int) and count > len(articles) for count in counts):
        yield FailedPart(Malformed("It is one page of an export that says there are more."))


def _is_list_of_articles(said: Any, key: str) -> bool:
    articles = said.get(key) if isinstance(said, dict) else None
    return isinstance(articles, list) and all(
        isinstance(each, dict) and "id" in each and "title" in each for each in articles
    )


def _zendesk(said: Article) -> Iterator[Reading]:
    folders = _zendesk_folders(said)
    for article in said["articles"]:
        if not article.get("draft"):
            key = f"zendesk-{article['id']}-{article.get('locale') or 'default'}"
            folder = folders.get(article.get("section_id"), "")
            yield _read(key, partial(_zendesk_article, article, folder))


def _zendesk_article(article: Article, folder: str) -> ParsedText:
    labels: dict[str, Any] = hints(
        str(article.get("locale") or ""), str(article.get("html_url") or "")
    )
    # Zendesk shows such an article to signed-in users or staff only; who they are we cannot know.
    if article.get("user_segment_id") or article.get("user_segment_ids"):
        labels["visibility"] = "internal"
    return _text(article["title"], article.get("body"), folder, labels)


def _zendesk_folders(said: Article) -> dict[Any, str]:
    categories = {each.get("id"): _folder(each) for each in _rows(said, "categories")}
    return {
        section.get("id"): "/".join(
            filter(None, (categories.get(section.get("category_id")), _folder(section)))
        )
        for section in _rows(said, "sections")
    }


def _intercom(said: Article) -> Iterator[Reading]:
    folders = {str(each.get("id")): _folder(each) for each in _rows(said, "collections")}
    for article in said["data"]:
        folder = folders.get(str(article.get("parent_id")), "")
        for locale, version in _intercom_versions(article):
            if version.get("state", "published") == "published":
                key = f"intercom-{article['id']}-{locale or 'default'}"
                yield _read(key, partial(_intercom_article, version, locale, folder))


def _intercom_versions(article: Article) -> Iterator[tuple[str, Article]]:
    default = str(article.get("default_locale") or "")
    yield default, article
    translated = article.get("translated_content")
    for locale, version in (translated if isinstance(translated, dict) else {}).items():
        if isinstance(version, dict) and version.get("title") and locale != default:
            yield locale, version


def _intercom_article(version: Article, locale: str, folder: str) -> ParsedText:
    labels = hints(locale, str(version.get("url") or ""))
    return _text(version["title"], version.get("body"), folder, labels)


def _rows(said: Article, key: str) -> Iterator[Article]:
    rows = said.get(key)
    return (each for each in (rows if isinstance(rows, list) else []) if isinstance(each, dict))


def _folder(row: Article) -> str:
    return str(row.get("name") or "").replace("/", "-")


def _text(title: Any, body: Any, folder: str, labels: dict[str, Any]) -> ParsedText:
    if not isinstance(title, str) or not isinstance(body, str):
        raise RowRefused("The article has no title or no text.")
    return replace(parsed(title, markdown_of(body), **labels), folder=folder)


def _read(key: str, article: Callable[[], ParsedText]) -> Reading:
    try:
        return replace(article(), key=key)
    except KnowledgeError as error:
        return FailedPart(error, key=key)
