"""How long does a stranger take from a clone to a governed mail in somebody else's mailbox?

    make bench NAME=stopwatch

The steps are those of “Your own mailbox” in README, done in headless Chromium as a person does them
who reads nothing else: clone, `make run`, connect a mailbox on a page, choose its rules, ask for a
mail in the console, confirm it, and wait until the other mailbox has it. The mail server is the
tests' Postfix that delivers into Dovecot (Dovecot alone where Postfix cannot be started, as for
users other than root). It listens on this machine, so the environment of `make run` permits private
addresses and names a certificate; nobody else has to set either. Time to read and to type is not in
it. The last line is JSON, with the seconds of each step; the exit code is 1 over ten minutes.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import Page, expect

from config.local import ports  # after the path
from tests import chromium, mail_world, postfix_world

PROJECT = Path(__file__).resolve().parent.parent
GOAL_SECONDS, PATIENCE_SECONDS = 600.0, 900.0
PATIENCE_MS = 120_000
NORA, TOM = "nora@office.test", "tom@office.test"
TEXT = "I will be late."


@dataclass
class Watch:
    steps: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.steps[name] = round(time.monotonic() - began, 1)
        print(f"{self.steps[name]:7.1f} s  {name}", file=sys.stderr, flush=True)


@contextmanager
def made(clone: Path, trusted: Path) -> Iterator[tuple[str, str]]:
    """`make run`, until it says where it is; its address and the operator's password."""
    free = {name: str(ports.pick()) for name in ("REMIT_PORT", "SANDBOX_PORT", "MODEL_PORT")}
    given = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    given |= free | {"OUTGOING_TO_PRIVATE": "True", "SSL_CERT_FILE": str(trusted)}
    running = subprocess.Popen(
        ["make", "run"],
        cwd=clone,
        env=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert running.stdout is not None
    try:
        yield read_welcome(running.stdout)
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait(timeout=120)
        running.stdout.close()


def read_welcome(lines: IO[str]) -> tuple[str, str]:
    address = password = ""
    for line in lines:
        print(f"    {line.rstrip()}", file=sys.stderr, flush=True)
        if found := re.search(r"Remit runs at (\S+)", line):
            address = found[1]
        if found := re.search(r"as operator, password (\S+)", line):
            password = found[1]
        if line.startswith("Ctrl-C"):
            return address, password
    raise SystemExit("make run ended by itself.")


def log_in(page: Page, password: str) -> None:
    page.goto("/admin/")
    page.get_by_label("Username").fill("operator")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in", exact=True).click()
    page.wait_for_url("**/admin/")


def connect(page: Page, world: Any) -> None:
    page.goto("/admin/integrations/account/connect/")
    page.get_by_label("User (required)").fill("nora")
    page.get_by_label("Address").fill(NORA)
    page.get_by_label("Password").fill(mail_world.PASSWORD)
    page.get_by_text("Server, if it is not found").click()
    page.get_by_label("Mail server (IMAP)").fill(f"127.0.0.1:{world.imap}")
    page.get_by_label("Server to send with (SMTP)").fill(f"127.0.0.1:{world.smtp}")
    page.locator("[name=smtp_security]").select_option("starttls")
    page.get_by_role("button", name="Sign in and show what can be done").click()
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_text(f"{NORA} is connected.")).to_be_visible(timeout=PATIENCE_MS)


def choose_rules(page: Page) -> None:
    page.get_by_role("link", name=re.compile("^new-account")).first.click()
    page.get_by_role("button", name="Apply", exact=True).click()
    page.wait_for_load_state()


def ask(page: Page) -> None:
    page.goto("/console/")
    page.get_by_label("Act as").select_option("nora")
    words = f"Send {TOM} a mail that says {TEXT}"
    page.get_by_label("Message", exact=True).fill(words)
    page.get_by_role("button", name="Send", exact=True).click()
    card = page.get_by_role("region", name="Pending action").first
    expect(card).to_contain_text(TOM, timeout=PATIENCE_MS)


def confirm(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Confirm: ")).first.click()
    expect(page.get_by_role("region", name="Pending action")).to_have_count(0, timeout=PATIENCE_MS)


def await_mail(world: Any) -> str:
    """As Tom's own mail program shows it; its text."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        with world.client(TOM) as client:
            client.select_folder("INBOX", readonly=True)
            if uids := client.search(["FROM", NORA]):
                mail = client.fetch(uids, ["BODY.PEEK[]"])[uids[0]][b"BODY[]"]
                return str(mail.decode())
        time.sleep(0.5)
    raise SystemExit("The mail did not arrive.")


def read_ledger(page: Page) -> bool:
    """Whether a row of the ledger names the receiver."""
    page.goto("/admin/audit/executedagentaction/")
    return page.locator("#result_list tbody tr").filter(has_text=TOM).count() > 0


def measure(world: Any, folder: Path) -> dict[str, Any]:
    watch, clone = Watch(), folder / "remit"
    with watch.step("clone"):
        subprocess.run(["git", "clone", "-q", str(PROJECT), str(clone)], check=True)
    began = time.monotonic()
    with (
        made(clone, world.folder / "ca.pem") as (address, password),
        chromium.launched() as browser,
    ):
        watch.steps["make run"] = round(time.monotonic() - began, 1)
        page = browser.new_context(base_url=address).new_page()
        page.set_default_timeout(PATIENCE_MS)
        with watch.step("log in"):
            log_in(page, password)
        with watch.step("connect the mailbox"):
            connect(page, world)
        with watch.step("choose its rules"):
            choose_rules(page)
        with watch.step("ask for a mail"):
            ask(page)
        with watch.step("confirm it"):
            confirm(page)
        with watch.step("until it is received"):
            mail = await_mail(world)
        with watch.step("read the ledger"):
            is_recorded = read_ledger(page)
    return {
        "steps": watch.steps,
        "seconds": round(sum(watch.steps.values()), 1),
        "received": TEXT in mail,
        "recorded": is_recorded,
        "root": os.getuid() == 0,
        "postfix": isinstance(world, postfix_world.PostfixWorld),
    }


def main() -> int:
    alone = partial(mail_world.running_mail_world, delivers=True)
    start: Any = postfix_world.running_postfix if postfix_world.can_start() else alone
    with start() as world, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        found = measure(world, Path(folder))
    print(json.dumps(found))
    good = found["received"] and found["recorded"] and found["seconds"] <= GOAL_SECONDS
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
