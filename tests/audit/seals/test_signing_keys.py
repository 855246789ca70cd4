"""A key that nobody named signs nothing; one that was named is believed through the old one."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from django.db import connections, transaction

from audit.contracts import LEDGER_TENANT
from audit.ledger import ledger
from audit.models import AppendOnly, Checkpoint, ExecutedAgentAction, SigningKey
from audit.seals import merkle, notes, sealer, signing_keys
from audit.seals.notes import Signer
from audit.verification import seals
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.databases import await_order, command, connected, fresh_database
from tests.audit.entries import append_action, entry

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
SECOND, THIRD = (Signer(bytes([number]) * 32) for number in (2, 3))
NOW = datetime(2026, 11, 21, 22, tzinfo=UTC)
OLD_KEY, NEW_KEY = (base64.b64encode(bytes([number]) * 32).decode() for number in (8, 9))


@pytest.fixture(autouse=True)
def _the_first_key_is_named() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)


@contextmanager
def named(*rotations: tuple[Signer, str]) -> Iterator[None]:
    """These rows of the table of keys, for as long as it is entered."""
    with transaction.atomic(using="ledger"):
        with connections["ledger"].cursor() as cursor:
            for signer, statement in rotations:
                cursor.execute(signing_keys.NAME, [signer.public, statement])
        yield
        transaction.set_rollback(True, using="ledger")


def said(old: Signer, new: Signer) -> str:
    return bundles.rotation(f"remit.example/ledger/{LEDGER_TENANT}", old, new)


def test_the_key_that_seals_first_is_named_by_that() -> None:
    keys = signing_keys.load_keys()
    assert keys == signing_keys.Keys(publics=(sealed.SIGNER.public,))
    assert signing_keys.signer_in_force([SECOND, sealed.SIGNER]) is sealed.SIGNER


def test_a_key_that_was_not_named_seals_nothing() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    with pytest.raises(signing_keys.CannotSeal, match="name the new one with both keys"):
        signing_keys.signer_in_force([SECOND])
    with (
        transaction.atomic(using="ledger"),
        connections["ledger"].cursor() as cursor,
        pytest.raises(signing_keys.CannotSeal),
    ):
        signing_keys.confirm(cursor, SECOND)
    sealed.seal(tenant_id)
    newest = Checkpoint.objects.filter(tenant_id=tenant_id).latest("size")
    assert newest.verifier_key == sealed.key(tenant_id)


def test_a_named_key_is_in_force_and_the_one_before_signs_no_more() -> None:
    with named((SECOND, said(sealed.SIGNER, SECOND)), (THIRD, said(SECOND, THIRD))):
        assert signing_keys.load_keys().publics == (
            sealed.SIGNER.public,
            SECOND.public,
            THIRD.public,
        )
        assert signing_keys.signer_in_force([sealed.SIGNER, THIRD]) is THIRD
        for former in (sealed.SIGNER, SECOND):
            with pytest.raises(signing_keys.CannotSeal, match="the one that the ledger names"):
                signing_keys.signer_in_force([former])


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "anything",
        said(THIRD, SECOND),
        said(sealed.SIGNER, THIRD),
        sealed.SIGNER.sign(
            notes.Rotation(
                name="remit.example/ledger/keys",
                old=sealed.SIGNER.public,
                new=SECOND.public,
                at=NOW,
            )
        ),
        bundles.rotation("another.example/ledger/x", sealed.SIGNER, SECOND),
    ],
)
def test_what_the_key_before_did_not_sign_counts_for_nothing_and_is_found(statement: str) -> None:
    """Somebody who may write to the table stops no sealer and makes no key count."""
    with named((SECOND, statement)):
        keys = signing_keys.load_keys()
        assert (keys.publics, keys.strays) == ((sealed.SIGNER.public,), 1)
        assert signing_keys.signer_in_force([sealed.SIGNER]) is sealed.SIGNER
        sentences = [sentence for sentence, _ in seals.find_problems(uuid4())]
    assert sentences == ["1 signing keys were named without the signature of the previous key."]


def test_no_key_comes_back() -> None:
    with named((SECOND, said(sealed.SIGNER, SECOND)), (sealed.SIGNER, said(SECOND, sealed.SIGNER))):
        assert signing_keys.load_keys().in_force == SECOND.public


def test_a_checkpoint_of_a_key_that_was_not_named_is_found() -> None:
    tenant_id, tree = uuid4(), merkle.Frontier()
    tree.append(merkle.leaf_hash(b"row"))
    name = sealer.origin(tenant_id)
    note = SECOND.sign(notes.Tree(origin=name, size=1, root=tree.root()))
    checkpoint = Checkpoint(
        tenant_id=tenant_id,
        size=1,
        root=tree.root(),
        frontier=tree.nodes,
        note=note,
        verifier_key=SECOND.verifier_key(name),
    )
    ((sentence, _),) = seals.check(checkpoint, tree, set())
    assert sentence.endswith("is signed by a key that the ledger does not name.")


@pytest.mark.parametrize("signers", [[sealed.SIGNER], [SECOND, THIRD], [sealed.SIGNER] * 2])
def test_a_rotation_needs_the_present_key_and_a_new_one(signers: list[Signer]) -> None:
    before = ExecutedAgentAction.objects.filter(action_type=signing_keys.ACTION_TYPE).count()
    with pytest.raises(signing_keys.CannotRotate, match="must hold two keys"):
        signing_keys.rotate(signers, actor_id="command:test", now=NOW)
    assert signing_keys.load_keys().publics == (sealed.SIGNER.public,)
    after = ExecutedAgentAction.objects.filter(action_type=signing_keys.ACTION_TYPE).count()
    assert before == after


def test_named_keys_are_never_changed() -> None:
    for change in ("UPDATE audit_signing_key SET public = public", "DELETE FROM audit_signing_key"):
        with (
            pytest.raises(Exception, match="The ledger only inserts"),
            connections["ledger"].cursor() as cursor,
        ):
            cursor.execute(change)
    with pytest.raises(AppendOnly):
        SigningKey.objects.create()


def test_a_ledger_goes_on_under_a_new_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sealed by one key, rotated, sealed by the next; the bundle holds for who has the first."""
    tenant_id = uuid4()

    def append(database: str) -> None:
        with connected(database):
            ledger.append(entry(tenant_id=tenant_id))

    with fresh_database() as database:

        def sealer(key: str) -> str:
            await_order(database)
            return command("seal_ledger", "--once", database=database, LEDGER_SIGNING_KEY=key)

        append(database)
        assert sealer(OLD_KEY) == "Sealed 1 rows.\n"
        both = f"{OLD_KEY},{NEW_KEY}"
        rotated = command("rotate_signing_key", database=database, LEDGER_SIGNING_KEY=both)
        assert rotated.startswith("The ledger is signed by ")
        append(database)
        assert "another key than the one that the ledger names" in sealer(OLD_KEY)
        assert sealer(both) == "Sealed 3 rows.\n"
        append(database)
        assert sealer(NEW_KEY) == "Sealed 1 rows.\n"
        with psycopg.connect(database) as session:
            found = session.execute(
                "SELECT verifier_key FROM audit_checkpoint WHERE tenant_id = %s ORDER BY size",
                [tenant_id],
            )
            names = [row[0] for row in found.fetchall()]
            found = session.execute(
                "SELECT status FROM audit_action WHERE tenant_id = %s AND action_type = %s "
                "ORDER BY id",
                [LEDGER_TENANT, signing_keys.ACTION_TYPE],
            )
            assert [row[0] for row in found.fetchall()] == ["pending", "succeeded"]
        old, new = (notes.signers(key)[0] for key in (OLD_KEY, NEW_KEY))
        origin = f"remit.example/ledger/{tenant_id}"
        old_name, new_name = old.verifier_key(origin), new.verifier_key(origin)
        assert names == [old_name, new_name, new_name]
        assert "Error" not in command("verify_ledger", database=database)
        output = tmp_path / "made.zip"
        wanted = ("export_bundle", "--tenant", str(tenant_id), "--output", str(output))
        assert "Error" not in command(*wanted, database=database)
    assert bundles.check(tmp_path, output.read_bytes(), old_name) == 0
    told = capsys.readouterr().out
    assert f"Signed by key {new_name.split('+')[1]}, which key {old_name.split('+')[1]} " in told
    assert bundles.check(tmp_path, output.read_bytes(), new_name) == 0
