from typing import cast

import psycopg
import pytest
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.utils import ConnectionHandler

from config import settings
from tests.database import parameters

ENDED = (
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
    "WHERE datname = %s AND application_name = %s"
)


@pytest.mark.parametrize("process", ["web", "turns", "cluster"])
@pytest.mark.django_db
def test_a_connection_that_died_while_nobody_used_it_is_replaced_unseen(
    process: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "PROCESS", process)
    monkeypatch.setattr(DatabaseWrapper, "_connection_pools", {})
    own = connection.settings_dict
    address = {name: own[name] for name in ("NAME", "HOST", "PORT", "USER", "PASSWORD")}
    config = settings.database(settings.DATABASE_URL) | address
    others = cast(DatabaseWrapper, ConnectionHandler({"default": config})["default"])

    def backend() -> int:
        with others.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            pid: int = cursor.fetchone()[0]
        return pid

    first = backend()
    if "pool" in config["OPTIONS"]:
        others.pool.wait()  # until it holds all it keeps ready
    # As at the end of a request.
    others.close() if "pool" in config["OPTIONS"] else others.close_if_unusable_or_obsolete()
    with psycopg.connect(**parameters(own["NAME"])) as session:
        ended = session.execute(ENDED, [own["NAME"], f"remit {process}"]).fetchall()
    assert ended
    assert all(done for (done,) in ended)
    others.close_if_unusable_or_obsolete()

    assert backend() != first

    others.close()
    others.close_pool()
