"""The database of the tests behind a proxy, so that it can be away for those who connect to it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast
from unittest import mock

from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

from config import settings
from config.local import databases
from tests.fault_proxy import Fault, Proxy, running_proxy

# No test lasts as long: who would wait for a connection has failed it.
TOO_LONG = 60.0
CUT = Fault("cut", way="up", after=0)


@dataclass
class Server:
    """`tried` counts the connections that were tried while it took none."""

    proxy: Proxy = field(init=False)
    takes: bool = True
    tried: int = 0

    def draw(self) -> Fault | None:
        if self.takes:
            return None
        self.tried += 1
        return CUT

    def take_none(self) -> None:
        """From now on; those that are open stay."""
        self.takes, self.tried = False, 0

    def go_away(self) -> None:
        self.take_none()
        self.proxy.hang_up()

    def come_back(self) -> None:
        self.takes = True


@contextmanager
def server_for(process: str, *aliases: str) -> Iterator[Server]:
    """`aliases` are reached as this process of Remit reaches its database while the block lasts,
    but that its pools wait TOO_LONG."""
    found = databases.configure(settings.env, process, settings.DATABASE_URL, pooler=False)
    own = connections["default"].settings_dict
    server = Server()
    connections.close_all()  # they go back to pools of the tests
    with ExitStack() as stack:
        port = int(own["PORT"])
        server.proxy = stack.enter_context(running_proxy(port, draw=server.draw))
        stack.enter_context(mock.patch.object(DatabaseWrapper, "_connection_pools", {}))
        for alias in aliases:
            here: Any = connections[alias]
            config = found[alias]
            config["OPTIONS"]["pool"] |= {"timeout": TOO_LONG}
            there = {"HOST": "127.0.0.1", "PORT": str(server.proxy.port)}
            there |= {name: config[name] for name in ("OPTIONS", "CONN_HEALTH_CHECKS")}
            stack.enter_context(mock.patch.dict(here.settings_dict, there))
            stack.callback(cast(DatabaseWrapper, here).close_pool)
        stack.callback(connections.close_all)
        yield server
