"""The scope page in a browser: how tests open it, find lines in it and read what it says."""

from __future__ import annotations

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.e2e.pages import sign_in
from tests.scope_pages import Desk


@dataclass
class ScopePage:
    """One browser page on the scope of the desk's agent."""

    page: Page
    desk: Desk
    url: str

    def goto(self) -> ScopePage:
        self.page.goto(self.url + self.desk.url)
        self.page.wait_for_selector("#scope-form[data-ready]")
        return self

    def root(self, name: str = "knowledge") -> Locator:
        return self.page.locator(f"#root-{name}")

    def state(self, name: str = "knowledge") -> Locator:
        return self.page.locator(f"#state-{name} .state__line")

    def open(self, *names: str, root: str = "knowledge") -> ScopePage:
        for name in names:
            button = self.root(root).get_by_role("button", name=f"Contents of {name}", exact=True)
            button.click()
            panel = self.page.locator(f"#{button.get_attribute('aria-controls')}")
            expect(panel.locator(":scope > .rows, :scope > .panel__empty")).to_be_visible()
        return self

    def box(self, name: str, root: str = "knowledge") -> Locator:
        return self.root(root).get_by_role("checkbox", name=name, exact=True)

    def line(self, name: str, root: str = "knowledge") -> Locator:
        named = self.page.get_by_role("checkbox", name=name, exact=True)
        return self.root(root).locator(".row__line").filter(has=named)

    def press(self, name: str, root: str = "knowledge") -> None:
        self.root(root).get_by_role("button", name=re.compile(name)).first.click()

    def says(self, text: str, root: str = "knowledge") -> None:
        expect(self.state(root)).to_contain_text(text)

    def hears(self, text: str) -> None:
        expect(self.page.locator("#scope-live")).to_contain_text(text)

    def focus(self) -> str:
        return str(
            self.page.evaluate("document.activeElement.id || document.activeElement.tagName")
        )


def scope_page(page: Page, desk: Desk, url: str, who: str = "admin") -> ScopePage:
    sign_in(page, url, getattr(desk, who).cookies["sessionid"].value)
    return ScopePage(page, desk, url)
