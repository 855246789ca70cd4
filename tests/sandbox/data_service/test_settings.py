import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.data_service import Settings, SettingsError
from sandbox.data_service.listening import listening_on
from sandbox.data_service.settings import settings_from
from sandbox.data_service.store import Store
from tests.ports import free_port

COMPLETE = {
    "SANDBOX_PORT": "8099",
    "SANDBOX_STATE": "/tmp/state.sqlite3",
    "DATA_SERVICE_KEY": "key",
    "WEBHOOK_URL": "http://127.0.0.1:8000/webhooks/",
    "WEBHOOK_SECRET": "whsec_c2VjcmV0",
}


def test_the_environment_says_how_it_runs() -> None:
    settings, port = settings_from(COMPLETE)
    assert port == 8099
    assert settings == Settings(
        key="key",
        state="/tmp/state.sqlite3",
        webhook_url="http://127.0.0.1:8000/webhooks",
        webhook_secret="whsec_c2VjcmV0",
    )
    assert settings_from({"DATA_SERVICE_KEY": "key"}) == (Settings(key="key"), 8010)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("DATA_SERVICE_KEY", "", "Set DATA_SERVICE_KEY"),
        ("SANDBOX_PORT", "0", "SANDBOX_PORT must be a port"),
        ("SANDBOX_PORT", "http", "SANDBOX_PORT must be a port"),
        ("WEBHOOK_URL", "ftp://x/webhooks", "WEBHOOK_URL must be like"),
        ("WEBHOOK_URL", "http://", "WEBHOOK_URL must be like"),
        ("WEBHOOK_SECRET", "", "Set WEBHOOK_SECRET"),
        ("WEBHOOK_SECRET", "c2VjcmV0", "Set WEBHOOK_SECRET"),
        ("WEBHOOK_SECRET", "whsec_", "Set WEBHOOK_SECRET"),
        ("WEBHOOK_SECRET", "whsec_not base64", "Set WEBHOOK_SECRET"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        settings_from({**COMPLETE, name: value})


def test_a_state_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "state.sqlite3"
    other.write_bytes(b"This is not a database." * 100)
    with pytest.raises(SettingsError, match="cannot be used"):
        Store(str(other), records_webhooks=False)
    assert other.read_bytes() == b"This is not a database." * 100


def test_a_state_of_another_version_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "state.sqlite3")
    store = Store(path, records_webhooks=False)
    store.execute("PRAGMA user_version = 99")
    store.close()
    with pytest.raises(SettingsError, match="another version wrote it; delete it"):
        Store(path, records_webhooks=False)


def test_a_process_that_cannot_start_says_why_in_one_sentence(tmp_path: Path) -> None:
    other = tmp_path / "state.sqlite3"
    other.write_bytes(b"This is not a database." * 100)
    with listening_on(0) as taken:
        port = taken.getsockname()[1]
        for environment, sentence in (
            ({}, "Set DATA_SERVICE_KEY: the token that clients must send."),
            (
                {"DATA_SERVICE_KEY": "key", "SANDBOX_PORT": str(port)},
                f"Port {port} of 127.0.0.1 cannot be used (Address already in use)."
                " Set SANDBOX_PORT to another one.",
            ),
            (
                {
                    "DATA_SERVICE_KEY": "key",
                    "SANDBOX_PORT": str(free_port()),
                    "SANDBOX_STATE": str(other),
                },
                f"The sandbox state {other} cannot be used: file is not a database.",
            ),
        ):
            ended = subprocess.run(
                [sys.executable, "-m", "sandbox.data_service"],
                env={name: os.environ[name] for name in os.environ.keys() - COMPLETE} | environment,
                cwd=Path(__file__).resolve().parents[3],
                capture_output=True,
                text=True,
                check=False,
            )
            assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", f"{sentence}\n")
