"""The Chromium of this machine, for tests marked `browser`."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def program() -> Path | None:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return Path(found) if found else None


@contextmanager
def launched() -> Iterator[Browser]:
    """Playwright runs an event loop in this thread as long as it is open. Other tests need a thread
    without one."""
    path = program()
    assert path is not None, "mark the test `browser`"
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as environment:
        # Django refuses queries in a thread with an event loop.
        environment.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        yield browser
        browser.close()
