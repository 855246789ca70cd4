"""How wide a page may be: it fits a phone and a screen."""

from playwright.sync_api import Page, ViewportSize

PHONE: ViewportSize = {"width": 390, "height": 900}
SCREEN: ViewportSize = {"width": 1280, "height": 900}


def find_too_narrow(page: Page) -> list[int]:
    """The widths of the windows that the page does not fit into. Its own stays as it was."""
    before, found = page.viewport_size, []
    for window in (PHONE, SCREEN):
        page.set_viewport_size(window)
        if is_too_wide(page):
            found.append(window["width"])
    if before:
        page.set_viewport_size(before)
    return found


def is_too_wide(page: Page) -> bool:
    wide: bool = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    return wide
