"""A primary and a streaming replica of it: two PostgreSQL servers on loopback, from the binaries of
the embedded one (`pg_basebackup` is among them). The replica can take the primary's place."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import psycopg
from django.core.management import call_command
from django.db import connections
from environ import Env

from config.local import embedded, place as places, ports
from integrations.database import replicas
from tests.database import unpooled
from tests.office import until


@dataclass
class World:
    """`primary` and `replica` are their addresses."""

    primary: str
    replica: str
    place: places.Place
    data: Path

    def execute(self, address: str, statement: str) -> Any:
        with psycopg.connect(address, autocommit=True) as session:
            found = session.execute(statement)
            return found.fetchone() if found.description else None

    def catch_up(self) -> None:
        """Wait until the replica has what is committed now."""
        (here,) = self.execute(self.primary, "SELECT pg_current_wal_insert_lsn()::text")
        look = f"SELECT pg_last_wal_replay_lsn() >= '{here}'::pg_lsn"
        until(lambda: self.execute(self.replica, look) == (True,))

    def pause(self) -> None:
        self.execute(self.replica, "SELECT pg_wal_replay_pause()")
        state = "SELECT pg_get_wal_replay_pause_state()"
        until(lambda: self.execute(self.replica, state) == ("paused",))

    def resume(self) -> None:
        self.execute(self.replica, "SELECT pg_wal_replay_resume()")

    @property
    def either(self) -> str:
        """The address of both, for those who write. The replica is the first that is tried: who
        forgets to look for the server that writes is found out."""
        there, here = urlsplit(self.primary), urlsplit(self.replica)
        both = f"{here.netloc},{there.hostname}:{there.port}"
        query = "target_session_attrs=read-write&connect_timeout=3"
        return there._replace(netloc=both, query=query).geturl()

    def wait_for_replica(self) -> None:
        """From now on the primary says of nothing that it is committed before the replica has
        it."""
        self.execute(self.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.execute(self.primary, "SELECT pg_reload_conf()")
        look = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        until(lambda: self.execute(self.primary, look) == (1,))

    def cut_off(self) -> None:
        """The replica hears no more of the primary."""
        self.execute(self.replica, "ALTER SYSTEM SET primary_conninfo = ''")
        self.execute(self.replica, "SELECT pg_reload_conf()")
        look = "SELECT count(*) FROM pg_stat_wal_receiver"
        until(lambda: self.execute(self.replica, look) == (0,))

    def kill_primary(self) -> None:
        self._control("stop", "-m", "immediate", data=self.place.data)

    def promote(self) -> None:
        """The replica is the primary from now on."""
        self._control("promote")

    def stop(self) -> None:
        """Kill the replica, with what it is at. One that is down stays down."""
        if (self.data / "postmaster.pid").exists():
            self._control("stop", "-m", "immediate")

    def start(self) -> None:
        """Nothing where it runs."""
        if not (self.data / "postmaster.pid").exists():
            self._control("start", "--silent", "-l", str(self.place.home / "replica.log"))

    def _control(self, *words: str, data: Path | None = None) -> None:
        done = self.place.run(
            str(self.place.binaries / "pg_ctl"), *words, "--wait", "-D", str(data or self.data)
        )
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def running_pair(folder: Path) -> Iterator[World]:
    """Both servers, with all tables."""
    folder.chmod(0o755)
    primary = embedded.start(folder)  # with the log that a replica follows
    there = urlsplit(primary)
    place = places.settle(folder, str(there.password))
    data, port = place.home / "replica", ports.pick()
    try:
        with leading_to(primary):
            call_command("migrate", verbosity=0, interactive=False)
        copied = place.run(
            str(place.binaries / "pg_basebackup"),
            *("-D", str(data), "--write-recovery-conf", "--checkpoint", "fast"),
            *("-d", primary.rpartition("/")[0] + "/postgres"),
        )
        assert copied.returncode == 0, copied.stderr
        lines = [f"{key} = {value}\n" for key, value in embedded.SETTINGS.items()]
        place.write(data / "remit.conf", "".join([*lines, f"port = {port}\n"]))
        replica = primary.replace(f":{there.port}/", f":{port}/")
        world = World(primary, replica, place, data)
        world.start()
        yield world
        world.stop()
    finally:
        embedded.remove(folder)


@contextmanager
def leading_to(primary: str, replica: str = "") -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(unpooled())  # a pool leads to where it did
        for each in connections.all():
            there = address(primary)
            there["OPTIONS"] = each.settings_dict["OPTIONS"] | there["OPTIONS"]
            stack.enter_context(mock.patch.dict(each.settings_dict, there))
        if replica:
            own = connections.settings["ledger"]
            options = own["OPTIONS"] | {"options": "-c default_transaction_read_only=on"}
            there = own | address(replica) | {"OPTIONS": options}
            stack.enter_context(mock.patch.dict(connections.settings, {replicas.REPLICA: there}))
            stack.callback(forget)
        stack.callback(connections.close_all)
        connections.close_all()
        yield


def forget() -> None:
    connections[replicas.REPLICA].close()
    del connections[replicas.REPLICA]


def address(url: str) -> dict[str, Any]:
    """As the settings read it."""
    found = Env.db_url_config(url)
    return {"OPTIONS": {}} | {name: found[name] for name in found if name != "ENGINE"}
