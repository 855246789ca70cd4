"""Records what people come for, in a Remit of its own, and writes it to docs/recordings/.

    python -m scripts.recordings

Chromium shows its frames as they change, ffmpeg makes a film of them. What is pressed next has a
frame for a moment, because a browser without a screen has no pointer. Both programs are of this
machine, and nothing is fetched.
"""

import base64
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from scripts.screenshots import (
    PATIENCE_MS,
    PROJECT,
    ScreenshotError,
    await_status,
    drive,
    log_in,
)

FOLDER = PROJECT / "docs" / "recordings"
READ_MS, AIM_MS = 1800, 700  # that somebody reads, and sees what is pressed next
MOST_BYTES = 700_000
FRAME = "one => { one.style.outline = '3px solid #d97706'; one.style.outlineOffset = '2px' }"


class Film:
    """The frames of a page while it is walked through."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._frames: list[tuple[float, bytes]] = []
        self._screen = page.context.new_cdp_session(page)
        self._screen.on("Page.screencastFrame", self._keep)

    def start(self) -> None:
        self._screen.send("Page.startScreencast", {"format": "png", "everyNthFrame": 1})

    def _keep(self, frame: dict[str, Any]) -> None:
        self._frames.append((frame["metadata"]["timestamp"], base64.b64decode(frame["data"])))
        self._screen.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    def read(self) -> None:
        self.page.wait_for_timeout(READ_MS)

    def press(self, what: Locator) -> None:
        what.scroll_into_view_if_needed(timeout=PATIENCE_MS)
        what.evaluate(FRAME)
        self.page.wait_for_timeout(AIM_MS)
        what.click()

    def save(self, name: str) -> None:
        """Raises ScreenshotError where ffmpeg fails, or the film is too large for a page."""
        self.read()
        self._screen.send("Page.stopScreencast")
        path = FOLDER / f"{name}.webm"
        with tempfile.TemporaryDirectory() as folder:
            said = encode(self._frames, Path(folder), path)
        if said:
            raise ScreenshotError(f"ffmpeg made no film of {name}:\n{said}")
        if path.stat().st_size > MOST_BYTES:
            raise ScreenshotError(f"{path.name} has {path.stat().st_size} bytes.")


def encode(frames: list[tuple[float, bytes]], folder: Path, path: Path) -> str:
    """VP9 in WebM, each frame for as long as it was seen. What ffmpeg says where it fails."""
    lines = []
    ends = [at for at, _ in frames[1:]] + [frames[-1][0] + READ_MS / 1000]
    for number, ((at, picture), end) in enumerate(zip(frames, ends, strict=True)):
        (folder / f"{number}.png").write_bytes(picture)
        lines.append(f"file {number}.png\nduration {max(end - at, 0.001):.3f}")
    (folder / "frames").write_text("\n".join(lines) + "\n")
    command = "ffmpeg -v error -y -f concat -i frames -vf fps=10,format=yuv420p -c:v libvpx-vp9"
    command += " -crf 40 -b:v 0 -map_metadata -1 -fflags +bitexact film.webm"
    done = subprocess.run(command.split(), cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr
    shutil.copyfile(folder / "film.webm", path)
    return ""


def use(film: Film) -> None:
    """A user asks for three tasks, and is asked."""
    page = film.page
    page.goto("/console/")
    film.start()
    film.read()
    film.press(page.get_by_role("button", name="Create Jira tasks from John's proposal email"))
    await_status(page, "The agent asks a question.")
    film.read()
    film.press(page.get_by_role("button", name=re.compile("^John Smith")))
    await_status(page, "1 question waits for your decision.")
    page.get_by_role("region", name="Pending action").first.scroll_into_view_if_needed()


def approve(film: Film) -> None:
    """An approver reads a request and says yes."""
    page = film.page
    page.goto("/admin/guardrails/approval/")
    film.start()
    film.read()
    film.press(page.get_by_role("row").nth(1).get_by_role("link").first)
    page.wait_for_url("**/change/**")
    film.read()
    with page.expect_navigation(timeout=PATIENCE_MS):
        film.press(page.get_by_role("button", name="Confirm").first)


def stop(film: Film) -> None:
    """An operator stops everything, and sees it on another page."""
    page = film.page
    page.goto("/admin/")
    film.start()
    film.read()
    film.press(page.locator("#nav-sidebar").get_by_role("link", name="Stop"))
    film.read()
    film.press(page.get_by_role("button", name="Stop: Everything"))
    film.read()
    film.press(page.locator("#nav-sidebar").get_by_role("link", name="Activity"))
    expect(page.get_by_label("Stopped")).to_be_visible()
    film.read()


def prove(film: Film) -> None:
    """An auditor looks at this month, and takes its bundle with the key and the verifier."""
    page = film.page
    page.goto("/admin/")
    film.start()
    film.press(page.locator("#nav-sidebar").get_by_role("link", name="For auditors"))
    film.read()
    page.get_by_label("Month").select_option(label=f"{datetime.now(UTC):%B %Y}")
    film.press(page.get_by_role("button", name="Show", exact=True))
    film.read()
    with page.expect_download(timeout=PATIENCE_MS):
        film.press(page.get_by_role("button", name="Download the bundle", exact=True))
    page.mouse.wheel(0, 500)


WALKS: Mapping[str, Callable[[Film], None]] = {
    "using": use,
    "approving": approve,
    "proving": prove,
    "stopping": stop,
}


def record(page: Page) -> None:
    log_in(page)
    for name, walk in WALKS.items():
        film = Film(page)
        walk(film)
        film.save(name)


def main() -> int:
    """Returns the exit code."""
    if shutil.which("ffmpeg") is None:
        print("No ffmpeg found. On Debian: apt-get install ffmpeg", file=sys.stderr)
        return 1
    return drive(record, writes_to=FOLDER)


if __name__ == "__main__":
    sys.exit(main())
