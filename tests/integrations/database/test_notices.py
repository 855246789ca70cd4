"""Who waits for a notice reaches the same server as who writes, with the same guards."""

from typing import Any
from unittest import mock

from django.db import connections

from integrations.database import notices

OPTIONS = {
    "target_session_attrs": "read-write",
    "connect_timeout": 3,
    "sslmode": "verify-full",
    "sslrootcert": "/etc/remit/ca.pem",
}


def test_who_listens_looks_for_the_server_that_writes_as_others_do(settings: Any) -> None:
    settings.DATABASE_DIRECT_URL = ""
    own = {"HOST": "db1,db2", "PORT": "5432,5433", "OPTIONS": OPTIONS}
    with mock.patch.dict(connections["default"].settings_dict, own):
        found = notices.parameters()

    assert (found["host"], found["port"]) == ("db1,db2", "5432,5433")
    assert {name: found[name] for name in OPTIONS} == OPTIONS
    assert (found["keepalives_idle"], found["tcp_user_timeout"]) == (10, 20_000)


def test_past_a_pooler_it_is_the_direct_address_that_says_which(settings: Any) -> None:
    settings.DATABASE_DIRECT_URL = (
        "postgres://remit:secret@db1:5432,db2:5433/remit?target_session_attrs=read-write"
    )
    own = {"HOST": "pooler", "PORT": "6432", "OPTIONS": {}}
    with mock.patch.dict(connections["default"].settings_dict, own):
        found = notices.parameters()

    assert (found["host"], found["port"]) == ("db1,db2", "5432,5433")
    assert found["target_session_attrs"] == "read-write"
