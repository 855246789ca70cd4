"""What every test stands on: a real PostgreSQL, no network but loopback, fixed examples.

DATABASE_URL names the server to test on; without it an embedded one is started in a state
folder of its own and left running for the next time (`make reset` stops it).
"""

import atexit
import gc
import ipaddress
import os
import ssl
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import django
import hypothesis
import psycopg
import pytest
import pytest_django
from django.conf import settings
from playwright.sync_api import Browser
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from config.local import embedded, processes, state
from integrations.network import services
from tests import calendar_world, chromium
from tests.calendar_world import CalendarServer

if TYPE_CHECKING:
    from tests.office import Office

# Nothing is judged by how long it takes: the machine may be busy.
PATIENT: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [hypothesis.HealthCheck.too_slow],
}
hypothesis.settings.register_profile("fixed", derandomize=True, **PATIENT)
hypothesis.settings.register_profile("explore", max_examples=1000, **PATIENT)
hypothesis.settings.load_profile("fixed")


class NetworkRefused(RuntimeError):
    """A test reached for the network. Only loopback is allowed."""


def pytest_configure(config: pytest.Config) -> None:
    """Name the database before Django is set up, which pytest-django does after this."""
    sys.addaudithook(refuse_network)
    keep_bytecode()
    os.environ["REMIT_STATE_DIR"] = str(state.state_dir() / "test")
    # Pages are served from the finders in tests; the folder only has to exist.
    (Path(os.environ["REMIT_STATE_DIR"]) / "static").mkdir(parents=True, exist_ok=True)
    for outside in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "DATA_SERVICES", "DATA_SERVICE_KEYS"):
        os.environ.pop(outside, None)
    if not os.environ.get("DATABASE_URL"):
        server = embedded.start(state.state_dir(), durable=False)
        drop_abandoned_databases(server)
        # Named after this process, so that two test runs at once never share a database.
        url = urlsplit(server)._replace(path=f"/remit_{os.getpid()}")
        os.environ["DATABASE_URL"] = urlunsplit(url)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    # Hashing a password the way it is stored for people takes longer than most tests.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    keep_trust()
    keep_static_files()
    services.RESOLV_CONF = os.devnull  # no resolver; tests/dns_world.py is one


def keep_bytecode() -> None:
    """Where the environment forbids to keep what is compiled, each worker and each program that a
    test starts would compile all of Remit anew, for 15 s of a core."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def keep_trust() -> None:
    """Every HTTP client reads anew whom this machine trusts, which took 90 s of each worker."""
    read = ssl.create_default_context
    kept = cache(lambda _, *given, **named: read(*given, **named))
    ssl.create_default_context = lambda *given, **named: kept(
        os.environ.get("SSL_CERT_FILE"), *given, **named
    )


def keep_static_files() -> None:
    """Every client of a test makes the middleware anew, which would look for all static files."""
    scan, kept = WhiteNoiseMiddleware.add_files_from_finders, dict[str, Any]()

    def add_files(self: WhiteNoiseMiddleware) -> None:
        if not kept:
            scan(self)
            kept.update(self.files)
        self.files.update(kept)

    WhiteNoiseMiddleware.add_files_from_finders = add_files


def drop_abandoned_databases(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as session:
        names = session.execute("SELECT datname FROM pg_database WHERE datname ~ '^test_remit_'")
        for (name,) in names.fetchall():
            owner = name.removeprefix("test_remit_").partition("_")[0]  # test_remit_42_gw0
            if owner.isdigit() and not processes.command(int(owner)):
                session.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None  # else a Unix socket
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    name = host.decode() if isinstance(host, bytes) else host
    if not isinstance(name, str) or name in ("", "localhost"):
        return
    try:
        allowed = ipaddress.ip_address(name).is_loopback
    except ValueError:
        allowed = False
    if not allowed:
        raise NetworkRefused(f"A test tried to reach {name}. Only loopback is allowed.")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return ByFile(config, log)


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """A file's tests stay together, because they share servers, and all that share a browser. The
    attacks, a sixth of all time, are shared out: else one process would still be at them when all
    others have ended."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, name = nodeid.partition("::")
        share = zlib.crc32(name.encode()) % 4 if file == "tests/attacks/test_attacks.py" else 0
        return f"{together(Path(file))} {share}"


def together(path: Path) -> Path:
    return path.parent if path.parent.name == "browser" else path


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nothing of what is collected is garbage. Looking for some takes a third of the time, and
    later a second each time that all is looked through."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        atexit.register(gc.unfreeze)  # else sockets of modules would be named as left open
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # What is slow or much comes first: begun last, one process would work on while others idle.
    slow = {together(item.path) for item in items if is_slow(item)}
    number = Counter(together(item.path) for item in items)
    items.sort(key=lambda item: (together(item.path) not in slow, -number[together(item.path)]))
    if chromium.program() is None:
        missing = pytest.mark.skip(
            reason="No Chromium found, so the browser tests did not run. Install one "
            "(Debian: apt-get install chromium) and run the tests again."
        )
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(missing)


def is_slow(item: pytest.Item) -> bool:
    """Starts processes, or all of Remit."""
    marked = item.get_closest_marker("slow") or item.get_closest_marker("browser")
    return marked is not None or item.path.parent.name == "stories"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For tests marked `browser`, one module at a time."""
    with chromium.launched() as launched:
        yield launched


@pytest.fixture(scope="session")
def calendar_servers() -> Iterator[Callable[[str], CalendarServer]]:
    """A running calendar server by its name, started once."""
    with ExitStack() as running:
        yield cache(
            lambda name: running.enter_context(calendar_world.running_calendar_server(name))
        )


@pytest.fixture(params=calendar_world.servers())
def calendar_server(
    request: pytest.FixtureRequest, calendar_servers: Callable[[str], CalendarServer]
) -> CalendarServer:
    """Each in turn, empty."""
    found = calendar_servers(request.param)
    found.clear()
    return found


@pytest.fixture
def office(transactional_db: None, settings: Any, tmp_path: Path) -> "Iterator[Office]":
    """All of Remit with its sandbox, over real HTTP."""
    from tests.office import running_office  # this conftest is read before Django is set up

    with running_office(settings, state_dir=tmp_path) as running:
        yield running


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> Iterator[None]:
    """A database of this process's own. Instead of pytest-django's, which would migrate it."""
    from django.db import connection  # needs Django set up

    from tests import database

    worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    name = f"test_{connection.settings_dict['NAME']}_{worker}"
    with (
        django_db_blocker.unblock(),
        database.migrated(name),
        database.used_by_django(name),
        database.pooled(),
        database.swept(name),
    ):
        yield


@pytest.fixture(autouse=True)
def no_connection_outlives_its_test() -> Iterator[None]:
    yield
    # This conftest is read before Django is set up.
    from integrations.network import gate, http

    http.close_clients()
    gate.forget_slots()


@pytest.fixture
def keys(settings: Any, db: None) -> None:
    """What passwords are sealed with and opened; servers are on loopback."""
    from tests.own_accounts import have_keys  # this conftest is read before Django is set up

    have_keys(settings)
