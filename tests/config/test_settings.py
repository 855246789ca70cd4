import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.utils import ConnectionHandler

from config import settings
from config.local import databases, secrets, state
from tests.database import parameters

ENDED = (
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
    "WHERE datname = %s AND application_name = %s"
)


def configured(process: str) -> dict[str, Any]:
    found = databases.configure(settings.env, process, settings.DATABASE_URL, pooler=False)
    return cast(dict[str, Any], found["default"])


@pytest.mark.parametrize("process", ["web", "turns", "cluster"])
@pytest.mark.django_db
def test_a_connection_that_died_while_nobody_used_it_is_replaced_unseen(
    process: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DatabaseWrapper, "_connection_pools", {})
    own = connection.settings_dict
    address = {name: own[name] for name in ("NAME", "HOST", "PORT", "USER", "PASSWORD")}
    config = configured(process) | address
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


@pytest.mark.parametrize(
    ("process", "allowed"),
    [
        *((server, "10s") for server in ("web", "cluster", "turns", "sealer")),
        *((command, "10min") for command in ("migrate", "command")),
    ],
)
def test_a_server_may_be_idle_in_a_transaction_for_seconds_and_a_command_for_minutes(
    process: str, allowed: str
) -> None:
    options = configured(process)["OPTIONS"]["options"]

    with psycopg.connect(
        **parameters(connection.settings_dict["NAME"]) | {"options": options}
    ) as session:
        [found] = session.execute("SHOW idle_in_transaction_session_timeout").fetchone() or [""]
    assert found == allowed


SECRETS = {name: f"the value of {name} " + "x" * 50 for name in sorted(secrets.ALL)} | {
    "DATABASE_URL": "postgresql://elsewhere/remit",
    "DATABASE_DIRECT_URL": "",
    "DATABASE_REPLICA_URL": "postgresql://beside/remit",
    "REDIS_URL": "redis://elsewhere/0",
    "EMAIL_URL": "smtp://localhost",
    "DATA_SERVICE_KEYS": "default=abc",
    "WEBHOOK_SECRETS": "default=whsec_" + "c2VjcmV0" * 4,
    "CREDENTIALS_PRIVATE_KEY": base64.b64encode(bytes(range(32))).decode(),
    "CREDENTIALS_PRIVATE_KEY_BEFORE": "",
    **dict.fromkeys(("SYNC_CALLBACK_SECRETS", "MODEL_PROVIDER_KEYS"), "default=abc"),
}
PRINT = """
import json, os, sys
sys.argv = ["manage.py", *sys.argv[1:]]
from config import settings
names = ("SECRET_KEY", "LEDGER_KEY", "LEDGER_SIGNING_KEY")
print(json.dumps({name: getattr(settings, name) for name in names}))
print(json.dumps("LEDGER_SIGNING_KEY" in os.environ))
"""


def read_settings(*arguments: str, **environment: str) -> tuple[dict[str, Any], bool]:
    """Three secrets as a process with this environment has them, and whether its own environment
    holds the signing key."""
    printed = subprocess.run(
        [sys.executable, "-c", PRINT, *arguments],
        cwd=state.PROJECT_DIR,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return json.loads(printed[0]), json.loads(printed[1])


@pytest.mark.parametrize("process", secrets.NEEDS)
def test_a_process_starts_with_its_own_secrets_alone(process: str, tmp_path: Path) -> None:
    own = {name: SECRETS[name] for name in secrets.NEEDS[process]}
    found, _ = read_settings(REMIT_PROCESS=process, REMIT_STATE_DIR=str(tmp_path), **own)

    names = ("SECRET_KEY", "LEDGER_KEY", "LEDGER_SIGNING_KEY")
    assert found == {name: own.get(name, "") for name in names}


def test_no_process_but_one_that_signs_keeps_the_signing_key(tmp_path: Path) -> None:
    everything = SECRETS | {"REMIT_STATE_DIR": str(tmp_path)}

    web, in_web = read_settings(REMIT_PROCESS="web", **everything)
    sealer, _ = read_settings(REMIT_PROCESS="sealer", **everything)
    by_hand, _ = read_settings("rotate_signing_key", **everything)

    assert (web["LEDGER_SIGNING_KEY"], in_web) == ("", False)
    key = SECRETS["LEDGER_SIGNING_KEY"]
    assert sealer["LEDGER_SIGNING_KEY"] == by_hand["LEDGER_SIGNING_KEY"] == key


def test_what_make_run_starts_does_not_read_the_file_of_all_secrets(tmp_path: Path) -> None:
    lines = [f"{name}={value}" for name, value in SECRETS.items()]
    (tmp_path / "secrets.env").write_text("\n".join(lines))
    environment = {"REMIT_STATE_DIR": str(tmp_path), "REMIT_PROCESS": "migrate"}

    by_hand, _ = read_settings("check", REMIT_STATE_DIR=str(tmp_path))
    child, _ = read_settings(**environment, DATABASE_URL=SECRETS["DATABASE_URL"], REMIT_RUN="1")

    assert by_hand["SECRET_KEY"] == SECRETS["SECRET_KEY"]
    assert set(child.values()) == {""}


PAIR = {
    "CREDENTIALS_PRIVATE_KEY": SECRETS["CREDENTIALS_PRIVATE_KEY"],
    "CREDENTIALS_PUBLIC_KEY": secrets.public_half(SECRETS["CREDENTIALS_PRIVATE_KEY"]),
}


@pytest.mark.parametrize(
    ("start", "odd", "sentence"),
    [
        ("manage.py check", {"HTTPS": "yse"}, "HTTPS is “yse”. It must be “true” or “false”."),
        ("-m config.serve", {"TASK_WORKERS": "-1"}, "TASK_WORKERS is “-1”. It must be a whole"),
        ("manage.py qcluster", {"SECRET_KEY": ""}, "Set SECRET_KEY in the environment."),
        (
            "manage.py migrate",
            {"DATABASE_ROLE": "remit_owner", "DATABASE_DIRECT_URL": "postgres://there/remit"},
            "DATABASE_ROLE needs the database itself",
        ),
    ],
)
@pytest.mark.slow
def test_a_wrong_setting_ends_the_start_with_a_sentence_and_no_traceback(
    start: str, odd: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    ended = subprocess.run(
        [sys.executable, *start.split()],
        cwd=state.PROJECT_DIR,
        env={"PATH": os.environ["PATH"], "REMIT_STATE_DIR": str(tmp_path), **SECRETS, **odd},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Remit does not start. {sentence}")
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("public", "private", "opens", "said"),
    [
        (PAIR["CREDENTIALS_PUBLIC_KEY"], PAIR["CREDENTIALS_PRIVATE_KEY"], True, ""),
        (PAIR["CREDENTIALS_PUBLIC_KEY"], "", False, ""),
        ("", PAIR["CREDENTIALS_PRIVATE_KEY"], True, ""),
        ("", "", True, ""),
        (PAIR["CREDENTIALS_PUBLIC_KEY"], "", True, "CREDENTIALS_PRIVATE_KEY is not"),
        (PAIR["CREDENTIALS_PUBLIC_KEY"], "A" * 43 + "=", True, "is not of"),
        ("AAAA", "", False, "is no key"),
        ("?", "", False, "no base64"),
        ("", "AAAA", True, "no base64 of 32 bytes"),
    ],
)
def test_half_a_pair_of_keys_and_two_that_do_not_fit_are_named(
    public: str, private: str, opens: bool, said: str
) -> None:
    found = secrets.find_wrong_pair(public, private, opens=opens)

    assert (said in found) if said else not found
    assert not private or private not in found


def test_a_secret_that_no_webhook_could_be_signed_with_is_named_by_its_organisation() -> None:
    good = secrets.of_default(SECRETS["WEBHOOK_SECRETS"])

    assert secrets.find_unreadable({"default": good, "other": "whsec_!!!"}) == ["other"]


@pytest.mark.slow
def test_a_cluster_whose_database_is_away_ends_with_a_sentence(tmp_path: Path) -> None:
    away = {"DATABASE_URL": "postgres://a:b@127.0.0.1:1/remit", "REMIT_PROCESS": "cluster"}
    ended = subprocess.run(
        [sys.executable, "manage.py", "qcluster"],
        cwd=state.PROJECT_DIR,
        env={"PATH": os.environ["PATH"], "REMIT_STATE_DIR": str(tmp_path), **SECRETS, **away},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 1
    assert "(knowledge.E002) The database does not answer: " in ended.stderr
    assert "Traceback" not in ended.stderr
