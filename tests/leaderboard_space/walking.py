"""A browser that walks through a Space, and the faults that no page may have."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Locator, Page, ViewportSize, expect

from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from tests.leaderboard_space.attacks.running import Running

Scheme = Literal["light", "dark"]
DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
LEFT = ("BodyStreamBuffer was aborted", "AbortError: signal is aborted without reason")
"""Printed by Gradio's client when a page is left while its event stream is open."""
PAPER: dict[Scheme, str] = {"light": "rgb(251, 251, 249)", "dark": "rgb(20, 23, 27)"}


@dataclass
class Walk:
    """A browser without cookies, on a Space.

    `complaints` lists console and script errors, dialogs, and requests to other hosts.
    """

    space: Running
    page: Page
    size: ViewportSize
    scheme: Scheme
    complaints: list[str] = field(default_factory=list)

    @property
    def phone(self) -> bool:
        return self.size == PHONE

    def to(self, path: str) -> None:
        """Open a page of the Space, which must exist and fit."""
        answer = self.page.goto(self.space.address + path)
        assert answer is not None
        assert answer.status == 200, path
        self.fits()

    def fits(self) -> None:
        """Assert that the page does not scroll sideways; wide tables scroll within themselves."""
        wide = self.page.evaluate("document.scrollingElement.scrollWidth - innerWidth")
        assert wide <= 0, (self.page.url, wide)

    def open(self, link: Locator) -> None:
        with self.page.expect_navigation():
            link.click()
        self.fits()

    def follow(self, name: str) -> None:
        if self.phone:
            self.page.get_by_role("button", name="Menu").click()
        self.open(self.page.get_by_label("Site", exact=True).get_by_role("link", name=name, exact=True))

    def column(self, header: str) -> list[str]:
        heads = self.page.locator("#rows table.board").first.locator("thead th")
        names = heads.evaluate_all("heads => heads.map(head => head.querySelector('button, span')?.textContent)")
        cells = self.page.locator(
            f"#rows table.board tbody:not([hidden]) tr:not([hidden]) > :nth-child({names.index(header) + 1})"
        )
        return [text.strip().split("\n")[0] for text in cells.all_inner_texts()]

    def sign_in(self, name: str, *organisations: str) -> None:
        self.space.provider.name, self.space.provider.organisations = name, organisations
        self.to("/submit")
        self.page.get_by_role("link", name="Sign in with Hugging Face").click()
        expect(self.page.locator("#who")).to_contain_text(f"Signed in as {name}")


@contextmanager
def walking(
    browser: Browser, space: Running, size: ViewportSize, scheme: Scheme, headers: dict[str, str] | None = None
) -> Iterator[Walk]:
    """A walk; at its end no page may have complained."""
    about: dict[str, Any] = {"color_scheme": scheme, "reduced_motion": "reduce", "extra_http_headers": headers or {}}
    context = browser.new_context(viewport=size, **about)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=space.address)
    walk = Walk(space, context.new_page(), size, scheme)
    context.on("page", lambda page: watch(page, walk))
    watch(walk.page, walk)
    yield walk
    assert walk.complaints == [], walk.complaints
    context.close()


def watch(page: Page, walk: Walk) -> None:
    own = (walk.space.address, walk.space.provider.address, "data:", "blob:")

    def dialog(found: Dialog) -> None:
        walk.complaints.append(f"dialog: {found.message}")
        found.dismiss()

    def console(said: ConsoleMessage) -> None:
        if said.type == "error" and not any(text in said.text for text in LEFT):
            walk.complaints.append(f"console: {said.text}")

    page.on("console", console)
    page.on("pageerror", lambda error: walk.complaints.append(f"script: {error}"))
    page.on("dialog", dialog)
    page.on("request", lambda asked: None if asked.url.startswith(own) else walk.complaints.append(asked.url))


@contextmanager
def worker(space: Running) -> Iterator[None]:
    """Another process than the Space's, this one, scores what waits."""
    places = {"FAIRSPACE_STORE": str(space.root / "store"), "FAIRSPACE_WORK": str(space.root / "work")}
    opened = Space.open(Settings.from_environment(os.environ | places | {"FAIRSPACE_BASELINES": "0"}))
    opened.jobs.start()
    try:
        yield
    finally:
        opened.jobs.stop()
        opened.storage.close()


def focused(page: Page) -> dict[str, Any]:
    """The focused element, and the width of its outline."""
    found: dict[str, Any] = page.evaluate(
        """() => {
          const found = document.activeElement, style = getComputedStyle(found), box = found.getBoundingClientRect();
          return {tag: found.tagName, text: (found.innerText || found.value || "").trim().slice(0, 60), id: found.id,
                  line: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
                  seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight};
        }"""
    )
    return found
