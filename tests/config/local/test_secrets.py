import base64
from pathlib import Path

import pytest

from config.local import secrets
from integrations.credentials import sealing


@pytest.fixture(autouse=True)
def no_secrets_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in secrets.MAKERS:
        monkeypatch.delenv(name, raising=False)


def test_secrets_are_made_once_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "secrets.env"

    made = secrets.load(path)

    assert set(made) == set(secrets.MAKERS)
    assert all(made.values())
    assert secrets.load(path) == made
    assert oct(path.stat().st_mode & 0o777) == "0o600"


def test_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secrets.env"
    monkeypatch.setenv("SECRET_KEY", "given")

    assert secrets.load(path)["SECRET_KEY"] == "given"
    assert "given" not in path.read_text()


def test_what_an_older_file_lacks_is_added_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "secrets.env"
    path.write_text("# mine\nSECRET_KEY=old\n")

    made = secrets.load(path)

    assert made["SECRET_KEY"] == "old"
    assert path.read_text().startswith("# mine\nSECRET_KEY=old\nLEDGER_KEY=")
    assert secrets.load(path) == made


def test_the_signing_secret_has_24_bytes_and_no_padding(tmp_path: Path) -> None:
    secret = secrets.of_default(secrets.load(tmp_path / "s")["WEBHOOK_SECRETS"])

    assert secret.startswith("whsec_")
    assert "=" not in secret
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 24


def test_the_value_of_the_default_organisation_is_found() -> None:
    assert secrets.of_default("other=1,default=a=b") == "a=b"
    assert secrets.of_default("other=1") == ""


def test_the_public_half_of_a_key_is_what_secrets_are_sealed_to(tmp_path: Path) -> None:
    private = secrets.load(tmp_path / "secrets.env")["CREDENTIALS_PRIVATE_KEY"]

    public = sealing.public_key(secrets.public_half(private))

    assert sealing.to_text(public) == sealing.to_text(sealing.private_key(private).public_key())
