"""A key vouches for its successors, as far as somebody believes it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.bundle.rotations import SECOND, THIRD
from tests.audit.bundle.test_verify import example

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def test_a_key_vouches_for_those_that_it_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id, data = example()
    origin, files = f"remit.example/ledger/{tenant_id}", bundles.unpack(data)
    kept = files["checkpoint.note"].decode()
    bundles.rotate(files, sealed.SIGNER, SECOND, THIRD)
    data = bundles.pack(files)
    first, second, third = (
        signer.verifier_key(origin).split("+")[1] for signer in (sealed.SIGNER, SECOND, THIRD)
    )
    assert bundles.check(tmp_path, data, sealed.key(tenant_id), kept) == 0
    on = "on 2026-11-20T22:00:00.000000Z"
    assert (
        f"note    Signed by key {third}, which key {second} named {on}, "
        f"which key {first} named {on}.\n" in capsys.readouterr().out
    )
    assert bundles.check(tmp_path, data, SECOND.verifier_key(origin)) == 0
    # What was kept under an earlier key still compares.
    assert bundles.check(tmp_path, data, THIRD.verifier_key(origin), kept) == 0
    assert "Signed by" not in capsys.readouterr().out.splitlines()[-3]
    # But an earlier key seals nothing for who only trusts a later one.
    bundles.rotate(files, sealed.SIGNER, SECOND)
    bundles.sign_again(files, sealed.SIGNER)
    assert bundles.check(tmp_path, bundles.pack(files), SECOND.verifier_key(origin)) == 1
    assert "not signed by KEY" in capsys.readouterr().out


def test_a_key_can_be_refused_from_a_time_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As when it was stolen then."""
    tenant_id, data = example()
    key, today = sealed.key(tenant_id), datetime.now(UTC)
    before, after = (f"{today + timedelta(days=days):%Y-%m-%d}" for days in (-2, 2))
    assert bundles.check(tmp_path, data, f"{key}@{after}") == 0
    assert bundles.check(tmp_path, data, f"{key}@{before}") == 1
    assert f"and you refuse it after {before}." in capsys.readouterr().out
    files = bundles.unpack(data)
    bundles.rotate(files, sealed.SIGNER, SECOND, at=today)
    rotated = bundles.pack(files)
    assert bundles.check(tmp_path, rotated, f"{key}@{after}") == 0
    assert bundles.check(tmp_path, rotated, f"{key}@{before}") == 1
    assert f"KEY named its successor on {today:%Y-%m-%d}T" in capsys.readouterr().out
