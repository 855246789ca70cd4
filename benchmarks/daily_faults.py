"""What goes wrong in a day (benchmarks/day.py): each fault begins, lasts, and is over when its call
returns. What is killed is started again a second later, as a manager of services does."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from benchmarks import second_node
from benchmarks.disk import fill, kill_database
from benchmarks.faults import World, kill
from benchmarks.second_node import HERE

SIGNING_KEY = "YSBzaWduaW5nIGtleSBmb3IgYmVuY2htYXJrcywgMzI="
AGAIN_SECONDS, AWAY_SECONDS, BAD_SECONDS, CUT_SECONDS = 1.0, 5.0, 8.0, 12.0
CLOCKS = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
BAD_SERVICE = {
    "error_rate": 0.2,
    "timeout_rate": 0.1,
    "rate_limit_rate": 0.1,
    "fail_after_perform_rate": 0.2,
    "duplicate_webhooks": True,
    "reorder_webhooks": True,
    "seed": 1,
}
THERE = ("cables", "data service there", "model there", "cluster there")
COMMANDS = {
    "cluster": ("manage.py", "qcluster"),
    "turns": ("manage.py", "run_turns"),
    "sealer": ("manage.py", "seal_ledger"),
}


class Office(World):
    """All programs of an office on this machine, and of a second one where there can be one."""

    def __init__(
        self, folder: Path, ports: dict[str, int], *, mount: Path | None, there: tuple[str, ...]
    ) -> None:
        super().__init__(folder, ports)
        self.mount, self.there = mount, there
        self.listener = socket.create_server(("127.0.0.1", ports["web"]), backlog=1024)

    @property
    def names(self) -> list[str]:
        here = ["sandbox", "model", "web", "web 2", *COMMANDS]
        return [*here, *THERE] if self.there else here

    def begin(self, name: str) -> None:
        match name:
            case "sandbox" | "model":
                super().begin(name)
            case "web" | "web 2":
                file = str(self.listener.fileno())
                self.servers[name] = self.launch(
                    [sys.executable, "-m", "config.serve", "--fd", file],
                    {"REMIT_PROCESS": "web"},
                    listener=self.listener,
                )
            case "cables":
                pairs = (f"{HERE}:{port}=127.0.0.1:{port}" for port in self.wanted_there)
                self.servers[name] = self.start("-m", "benchmarks.second_node", *pairs)
            case "data service there":  # which answers to its own name alone
                pair = "127.0.0.1:{0}={1}:{0}".format(self.ports["sandbox"], HERE)
                self.servers[name] = self.start_there("-m", "benchmarks.second_node", pair)
            case "model there":
                port = str(self.ports["model"])
                self.servers[name] = self.start_there(
                    "-m", "sandbox.offline_model", MODEL_PORT=port
                )
            case "cluster there":
                self.servers[name] = self.start_there(*COMMANDS["cluster"], REMIT_PROCESS="cluster")
            case _:
                self.servers[name] = self.start_program(name)

    def start_program(self, name: str, **environment: str) -> "subprocess.Popen[bytes]":
        if name == "sealer":
            environment |= {"LEDGER_SIGNING_KEY": SIGNING_KEY}
        return self.start(*COMMANDS[name], REMIT_PROCESS=name, **environment)

    def start_there(self, *command: str, **environment: str) -> "subprocess.Popen[bytes]":
        """A program on the second machine, which reaches what is here by the cable."""
        database = os.environ["DATABASE_URL"].replace("127.0.0.1", HERE)
        environment |= {"DATABASE_URL": database}
        return self.launch([*self.there, sys.executable, *command], environment)

    @property
    def wanted_there(self) -> list[int]:
        """The ports of the database and the data service."""
        database = os.environ["DATABASE_URL"].rpartition(":")[2].partition("/")[0]
        return [int(database), self.ports["sandbox"]]

    def __enter__(self) -> "Office":
        for name in self.names:
            self.begin(name)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.servers.values():
            with suppress(ProcessLookupError):
                kill(process)
        self.listener.close()


Fault = Callable[[Office], None]


def killed(name: str) -> Fault:
    def fault(office: Office) -> None:
        office.end(name)
        time.sleep(AGAIN_SECONDS)
        office.begin(name)

    return fault


def away(name: str) -> Fault:
    def fault(office: Office) -> None:
        office.end(name)
        time.sleep(AWAY_SECONDS)
        office.begin(name)

    return fault


def bad_model(how: str) -> Fault:
    def fault(office: Office) -> None:
        office.end("model")
        bad = office.start("-m", "benchmarks.bad_model", how, str(office.ports["model"]))
        time.sleep(BAD_SECONDS)
        kill(bad)
        office.begin("model")

    return fault


def bad_service(office: Office) -> None:
    office.control("PUT", "/faults", BAD_SERVICE)
    time.sleep(BAD_SECONDS)
    office.control("PUT", "/faults", {})


def dead_database(office: Office) -> None:
    """The watch of `make run` starts it again."""
    kill_database(office.folder)
    time.sleep(AGAIN_SECONDS)


def restarted_database(office: Office) -> None:
    from config.local import embedded

    embedded.stop(office.folder)
    time.sleep(AGAIN_SECONDS)


def full_disk(office: Office) -> None:
    assert office.mount
    ballast = fill(office.mount)
    time.sleep(AWAY_SECONDS)
    ballast.unlink()


def cut_network(_: Office) -> None:
    """Longer than the lease of what is worked on there: who is here takes it over."""
    with second_node.cut():
        time.sleep(CUT_SECONDS)


def clock_ahead(office: Office) -> None:
    """The cluster here believes that it is an hour later."""
    office.end("cluster")
    fake = {"LD_PRELOAD": str(CLOCKS), "FAKETIME": "+1h", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    office.servers["cluster"] = office.start_program("cluster", **fake)
    time.sleep(BAD_SECONDS)
    killed("cluster")(office)


def faults(*, has_small_disk: bool, has_second_node: bool) -> dict[str, Fault]:
    """Each by what it is called, as far as this machine can make it."""
    found = {
        "web process killed": killed("web"),
        "cluster killed": killed("cluster"),
        "database killed": dead_database,
        "model broken": bad_model("broken"),
        "data service bad": bad_service,
        "turns killed": killed("turns"),
        "model slow": bad_model("slow"),
        "data service away": away("sandbox"),
        "database restarted": restarted_database,
        "model lying": bad_model("lying"),
        "sealer killed": killed("sealer"),
        "model away": away("model"),
    }
    if CLOCKS.exists():
        found["clock ahead"] = clock_ahead
    if has_small_disk:
        found["disk full"] = full_disk
    if has_second_node:
        found |= {"network cut": cut_network, "cluster there killed": killed("cluster there")}
    return found
