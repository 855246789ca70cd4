"""Takes the README's screenshots of a Remit of its own, and writes them to docs/screenshots/.

    python -m scripts.screenshots

Starts what `make run` starts, on free ports, with a state folder that is deleted afterwards, and
drives the Chromium of this machine.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from config.local import ports

PROJECT = Path(__file__).resolve().parent.parent
FOLDER = PROJECT / "docs" / "screenshots"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WINDOW: ViewportSize = {"width": 1280, "height": 720}
START_SECONDS = 300.0
PATIENCE_MS = 60_000
MOST_BYTES = 150_000
PASSWORD = "screenshots"  # noqa: S105  # of an operator that lives for a minute


class ScreenshotError(RuntimeError):
    """No screenshots were taken. The message says why."""


@contextmanager
def running_remit(folder: Path) -> Iterator[str]:
    """The address of a Remit whose state is in `folder`, stopped and deleted at the end."""
    port = ports.pick()
    outside = ("DATABASE_URL", "DATA_SERVICES", "OPENAI_API_KEY", "OPENAI_BASE_URL")
    environment = {
        **{name: value for name, value in os.environ.items() if name not in outside},
        "REMIT_STATE_DIR": str(folder),
        "REMIT_PORT": str(port),
        "SANDBOX_PORT": str(ports.pick()),
        "MODEL_PORT": str(ports.pick()),
        "OPERATOR_PASSWORD": PASSWORD,
    }
    output = folder / "output"
    with output.open("w") as log:
        remit = subprocess.Popen(
            [sys.executable, "-m", "config.local.run"],
            cwd=PROJECT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while "Ctrl-C stops" not in output.read_text():
            if remit.poll() is not None or time.monotonic() > deadline:
                raise ScreenshotError(f"Remit did not start:\n{output.read_text()}")
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        remit.send_signal(signal.SIGTERM)
        remit.wait()
        subprocess.run(
            [sys.executable, "-m", "config.local.reset"],
            cwd=PROJECT,
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )


def save(page: Page, name: str) -> None:
    """Write what the window shows. Raises ScreenshotError if the file is too large for a page."""
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path, animations="disabled")
    if path.stat().st_size > MOST_BYTES:
        raise ScreenshotError(f"{path.name} has {path.stat().st_size} bytes.")


def log_in(page: Page) -> None:
    page.goto("/admin/login/")
    page.get_by_label("Username").fill("operator")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()
    page.wait_for_url("**/admin/")


def await_status(page: Page, text: str) -> None:
    expect(page.get_by_role("status")).to_have_text(text, timeout=PATIENCE_MS)


def take(page: Page) -> None:
    """The seed's story, a picture at each of its stations."""
    log_in(page)
    page.goto("/console/")
    page.get_by_role("button", name="Create Jira tasks from John's proposal email").click()
    await_status(page, "The agent asks a question.")
    page.get_by_role("button", name=re.compile("^John Smith")).click()
    await_status(page, "1 question waits for your decision.")
    page.get_by_role("region", name="Pending action").first.scroll_into_view_if_needed()
    save(page, "console")

    page.goto("/admin/guardrails/approval/")
    page.get_by_role("row").nth(1).get_by_role("link").first.click()
    page.wait_for_url("**/batch/**")  # three alike
    page.get_by_role("link", name="Change this one").first.click()
    page.wait_for_url("**/change/**")
    save(page, "approval")

    page.goto("/console/")
    page.locator("summary", has_text="Deliver a mail").click()
    for count, mail in enumerate(("Newsletter", "Poisoned"), start=1):
        page.get_by_role("button", name=mail, exact=True).click()
        ended = page.locator(".message.mail .links")
        expect(ended).to_have_count(count, timeout=PATIENCE_MS)

    page.goto("/admin/")
    page.get_by_role("link", name="What may it do?").click()
    page.get_by_label("Account", exact=True).select_option(label="Maya Lindqvist · Gmail")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**account=**")
    save(page, "policy")

    page.goto("/admin/audit/executedagentaction/")
    save(page, "ledger")


def drive(walk: Callable[[Page], None], *, writes_to: Path) -> int:
    """Let Chromium walk through a Remit of its own, from a page that shows nothing yet. Returns
    the exit code."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        print("No Chromium found. On Debian: apt-get install chromium", file=sys.stderr)
        return 1
    writes_to.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with running_remit(Path(folder)) as address, sync_playwright() as playwright:
                options = ["--no-sandbox"] if os.geteuid() == 0 else []
                opened = playwright.chromium.launch(executable_path=browser, args=options)
                walk(opened.new_page(base_url=address, viewport=WINDOW, locale="en-GB"))
                opened.close()
        except ScreenshotError as error:
            print(error, file=sys.stderr)
            return 1
    print(f"Written to {writes_to.relative_to(PROJECT)}.")
    return 0


def main() -> int:
    """Returns the exit code."""
    return drive(take, writes_to=FOLDER)


if __name__ == "__main__":
    sys.exit(main())
