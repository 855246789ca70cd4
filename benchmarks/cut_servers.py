"""The servers that the benchmark `once` writes to, each behind proxies that break conversations off
at a random byte. Django has to be set up before anything here is called."""

import json
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.write_plans import (
    TOM,
    Write,
    everything,
    make_account,
    plan_events,
    plan_files,
    plan_issues,
    plan_mail,
)

SECONDS = 3.0  # that a server is waited for
# Of a conversation, in which something may happen: one that hands over a mail is shorter.
BYTES, SMTP_BYTES = 12_000, 6_000


class Servers:
    """All that are written to, each behind proxies of its own."""

    def __init__(
        self,
        stack: ExitStack,
        folder: Path,
        luck: random.Random,
        *,
        of: Set[str],
        faults: float,
        bcc_self: bool,
    ) -> None:
        """`faults`: in which share of all connections something happens."""
        self.stack, self.folder, self.luck, self.of = stack, folder, luck, of
        self.faults, self.bcc_self = faults, bcc_self
        self.trusted: list[Path] = []
        self.proxies: dict[str, list[Any]] = defaultdict(list)
        self.worlds: list[tuple[Any, list[str]]] = []
        self.calendars: list[Any] = []
        self.trackers: list[tuple[str, Any]] = []
        self.files: Any = None

    def started(self, server: Any, trusted: str | Path) -> Any:
        self.trusted.append(Path(trusted))
        trust(self.folder, *self.trusted)
        return server

    def proxied(self, protocol: str, port: int) -> int:
        from tests.fault_proxy import running_proxy

        if protocol not in self.of:
            return port
        most = SMTP_BYTES if protocol == "smtp" else BYTES
        faults = draw(self.luck, most, share=self.faults)
        proxy = self.stack.enter_context(running_proxy(port, draw=faults))
        self.proxies[protocol].append(proxy)
        return proxy.port

    def cuts(self) -> Counter[str]:
        return Counter(
            {
                name: sum(fault.kind != "delay" for one in proxies for fault in one.met)
                for name, proxies in self.proxies.items()
            }
        )

    def behind(self, row: Any, protocol: str, servers: Any, port: int) -> None:
        """The account reaches this port through a proxy from now on."""
        text = json.dumps(servers)
        point_to(row, json.loads(text.replace(f":{port}", f":{self.proxied(protocol, port)}")))

    def plan(self, count: int) -> Iterator[Write]:
        """Writes of the protocols that are wanted, each with its share."""
        plans: dict[tuple[str, ...], tuple[int, Callable[[int], list[Write]]]] = {
            ("imap", "smtp"): (12, self.plan_mailbox),
            ("jmap",): (8, self.plan_jmap),
            ("caldav",): (10, self.plan_calendars),
            ("webdav",): (5, self.plan_files),
            ("trackers",): (5, self.plan_trackers),
        }
        wanted = [plan for names, plan in plans.items() if not self.of.isdisjoint(names)]
        whole = sum(share for share, _ in wanted)
        for share, plan in wanted:
            yield from plan(count * share // whole)

    def plan_mailbox(self, count: int) -> list[Write]:
        from tests import mail_world, postfix_world

        is_whole = postfix_world.can_start()
        world = self.stack.enter_context(
            postfix_world.running_postfix()
            if is_whole
            else mail_world.running_mail_world(delivers=True)
        )
        self.started(world, world.folder / "ca.pem")
        address, servers = "nora@office.test", world.servers
        row = make_account("imap", "nora", address, address, servers)
        row.bcc_self = self.bcc_self
        row.save()
        found = list(plan_mail(world, row, count, of=self.of))
        servers["imap"]["port"] = self.proxied("imap", world.imap)
        servers["smtp"]["port"] = self.proxied("smtp", world.smtp)
        point_to(row, servers)
        self.worlds.append((world, [address, TOM]))
        return found

    def plan_jmap(self, count: int) -> list[Write]:
        from tests import cyrus_world

        if cyrus_world.UNPACKED is None:
            print("No Cyrus found: nothing is written over JMAP.", file=sys.stderr)
            return []
        world = self.stack.enter_context(cyrus_world.running_cyrus())
        self.started(world, world.folder / "ca.pem")
        address = "maya@office.test"
        world.add(address)
        row = make_account("jmap", "maya", address, address, world.servers)
        found = list(plan_mail(world, row, count, of={"imap", "smtp"}))
        self.behind(row, "jmap", world.servers, world.jmap)
        self.worlds.append((world, [address]))
        return found

    def plan_calendars(self, count: int) -> list[Write]:
        from integrations.accounts import reads
        from integrations.providers.caldav import trial
        from tests.calendar_world import ADDRESS, NAMES, PASSWORD, USER, running_calendar_server

        found: list[Write] = []
        for name in NAMES:
            server = self.stack.enter_context(running_calendar_server(name))
            self.started(server, server.trusted)
            tried = trial.try_urls([server.origin], user_name=USER, secret=PASSWORD)
            servers = tried.server.to_json()
            row = make_account("caldav", name, ADDRESS, USER, servers)
            found += plan_events(server, row, count // len(NAMES))
            everything(reads.reader(row.ref()))  # the events' places are known by reading them
            self.behind(row, "caldav", servers, int(server.origin.rpartition(":")[2]))
            self.calendars.append(server)
        return found

    def plan_files(self, count: int) -> list[Write]:
        from tests.file_world import ADDRESS, USER, running_files

        self.files = self.stack.enter_context(running_files())
        self.started(self.files, self.files.trusted)
        servers = {"home": self.files.origin, "readers": []}
        row = make_account("webdav", "files", ADDRESS, USER, servers)
        found = list(plan_files(self.files, row, count))
        port = int(self.files.origin.rstrip("/").rpartition(":")[2])
        self.behind(row, "webdav", servers, port)
        return found

    def plan_trackers(self, count: int) -> list[Write]:
        from tests import github_world, jira_world
        from tests.integrations.providers.rooms import try_tracker

        found: list[Write] = []
        made = (
            ("github_issues", github_world.running_github()),
            ("jira_issues", jira_world.running_jira(is_cloud=True)),
        )
        for source, start in made:
            tracker: Any = self.stack.enter_context(start)
            self.started(tracker, tracker.trusted)
            servers = try_tracker(tracker).server
            address = jira_world.ADDRESS
            row = make_account(source, source, address, address, servers, secret=tracker.token)
            found += plan_issues(tracker, row, count // len(made))
            self.behind(row, "trackers", servers, int(tracker.origin.rpartition(":")[2]))
            self.trackers.append((source, tracker))
        return found


def draw(luck: random.Random, most: int, *, share: float) -> Callable[[], Any]:
    from tests.fault_proxy import Fault

    def one() -> Fault | None:
        if luck.random() >= share:
            return None
        kind = luck.choice(["cut", "cut", "swallow", "delay"])
        return Fault(kind, luck.choice(["up", "down"]), luck.randrange(most))  # type: ignore[arg-type]

    return one


def trust(folder: Path, *authorities: Path) -> None:
    from integrations.network import http

    joined = folder / "authorities.pem"
    joined.write_bytes(b"".join(one.read_bytes() for one in authorities))
    os.environ["SSL_CERT_FILE"] = str(joined)
    http.close_clients()


def point_to(row: Any, servers: Any) -> None:
    from integrations.models import Credential
    from integrations.network import http
    from integrations.providers.imap import connection

    Credential.objects.filter(account=row).update(servers=servers)
    connection.close_idle()
    http.close_clients()
