"""A browser page that fails its test on any script error and on any breach of the content policy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from config.private import ROOT

ARTEFACTS = ROOT / "artefacts"


@contextmanager
def strict(page: Page) -> Iterator[Page]:
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    yield page
    assert not complaints, "\n".join(complaints)


def sign_in(page: Page, url: str, session: str) -> None:
    page.context.add_cookies(
        [{"name": "sessionid", "value": session, "url": url, "httpOnly": True, "sameSite": "Lax"}]
    )


def faults(page: Page, *left_out: str) -> list[str]:
    """What axe finds at WCAG 2.2 AA, as `rule: element`."""
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    rules: dict[str, Any] = {rule: {"enabled": False} for rule in left_out}
    told = Axe().run(page, options={"runOnly": {"type": "tag", "values": tags}, "rules": rules})
    return [
        f"{found['id']}: {node['html'][:120]}"
        for found in told.response["violations"]
        for node in found["nodes"]
    ]


def is_wider_than_the_window(page: Page) -> bool:
    return bool(
        page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    )


def keep_picture(page: Page, name: str) -> None:
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True)
