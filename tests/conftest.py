"""What every test stands on: a real PostgreSQL, no network but loopback, fixed examples.

DATABASE_URL names the server to test on; without it an embedded one is started in a state
folder of its own and left running for the next time (`make reset` stops it).
"""

import ipaddress
import os
import shutil
import ssl
import sys
from collections import Counter
from collections.abc import Iterator
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
from playwright.sync_api import Browser, sync_playwright
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]

from config.local import embedded, processes, state

if TYPE_CHECKING:
    from tests.office import Office

BROWSER_SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

hypothesis.settings.register_profile("fixed", deadline=None, derandomize=True)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("fixed")


class NetworkRefused(RuntimeError):
    """A test reached for the network. Only loopback is allowed."""


def pytest_configure(config: pytest.Config) -> None:
    """Name the database before Django is set up, which pytest-django does after this."""
    sys.addaudithook(refuse_network)
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


def chromium() -> Path | None:
    """The Chromium of this machine."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    return Path(found) if found else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Files with slow or many tests come first: begun last, one process would work on while
    # others idle.
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    number = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path not in slow, -number[item.path]))
    if chromium() is None:
        missing = pytest.mark.skip(
            reason="No Chromium found, so the browser tests did not run. Install one "
            "(Debian: apt-get install chromium) and run the tests again."
        )
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(missing)


# One module at a time: Playwright runs an event loop in this thread as long as it is open,
# and other tests need a thread without one.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The Chromium of this machine. For tests marked `browser`."""
    program = chromium()
    assert program is not None, "mark the test `browser`"
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as environment:
        # Django refuses queries in a thread with an event loop.
        environment.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        launched = playwright.chromium.launch(executable_path=program, args=BROWSER_SWITCHES)
        yield launched
        launched.close()


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
    from integrations.network import http  # this conftest is read before Django is set up

    http.close_clients()
