import hashlib
import json
import threading
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, connections, transaction
from pytest_django.fixtures import Settings

from audit.ledger import chain, ledger, lines
from audit.management.commands import seal_ledger
from audit.models import AppendOnly, Checkpoint, ExecutedAgentAction, Leaf
from audit.seals import merkle, notes, sealer, signing_keys
from audit.verification.rows import Verification
from tests.audit import sealed
from tests.audit.entries import append_action, entry
from tests.commands import run_command

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def another_session() -> Iterator[psycopg.Connection[Any]]:
    parameters = connections["ledger"].get_connection_params()
    wanted = {
        name: parameters[name]
        for name in ("dbname", "user", "password", "host", "port")
        if parameters.get(name)
    }
    with psycopg.connect(**wanted) as session:
        yield session


def stored_lines(tenant_id: UUID) -> list[bytes]:
    with connections["ledger"].cursor() as cursor:
        cursor.execute(
            f"SELECT {lines.LINE} FROM audit_action a JOIN audit_leaf l ON l.row_id = a.id "
            "WHERE a.tenant_id = %s ORDER BY l.leaf_index",
            [tenant_id],
        )
        return [row[0].encode() for row in cursor.fetchall()]


def test_every_row_becomes_a_leaf_and_the_root_over_them_is_signed(tenant_id: UUID) -> None:
    for _ in range(3):
        append_action(tenant_id=tenant_id, actor_id='é "\\\x01\x7f\u2028😀', model_id="\x00")
    sealed.seal(tenant_id)
    texts = stored_lines(tenant_id)
    leaves = list(Leaf.objects.filter(tenant_id=tenant_id).order_by("leaf_index"))
    assert [leaf.leaf_index for leaf in leaves] == list(range(6))
    assert [bytes(leaf.hash) for leaf in leaves] == [merkle.leaf_hash(text) for text in texts]
    newest = Checkpoint.objects.filter(tenant_id=tenant_id).latest("size")
    tree = notes.read(newest.note, verifier_key=sealed.key(tenant_id))
    assert tree == notes.Tree(
        origin=f"remit.example/ledger/{tenant_id}",
        size=6,
        root=merkle.tree_root([bytes(leaf.hash) for leaf in leaves]),
    )
    assert (newest.size, bytes(newest.root)) == (tree.size, tree.root)


def test_a_line_is_the_canonical_json_of_what_is_stored(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id, actor_id='é "\\\x01\x7f\u2028😀/', latency_ms=3)
    sealed.seal(tenant_id)
    rows = ExecutedAgentAction.objects.filter(tenant_id=tenant_id).order_by("id")
    texts = stored_lines(tenant_id)
    assert len(texts) == 2
    for row, text in zip(rows, texts, strict=True):
        said = json.loads(text)
        assert chain.canonical_bytes(said) == text
        names = {field.attname for field in row._meta.concrete_fields}
        assert said == {name: chain.storable(getattr(row, name)) for name in names}


def test_a_later_seal_continues_the_tree_of_the_earlier_one(tenant_id: UUID) -> None:
    for _ in range(2):
        append_action(tenant_id=tenant_id)
        sealed.seal(tenant_id)
    small, *_, large = Checkpoint.objects.filter(tenant_id=tenant_id).order_by("size")
    leaves = [merkle.leaf_hash(text) for text in stored_lines(tenant_id)]
    assert bytes(small.root) == merkle.tree_root(leaves[: small.size])
    assert merkle.is_consistent(
        old_size=small.size,
        old_root=bytes(small.root),
        size=large.size,
        root=bytes(large.root),
        proof=merkle.consistency_proof(leaves, small.size),
    )


def test_tenants_have_trees_of_their_own() -> None:
    first, second = uuid4(), uuid4()
    for tenant_id in (first, second, first):
        append_action(tenant_id=tenant_id, status="pending")
    sealed.seal(first)
    sealed.seal(second)
    assert [len(stored_lines(tenant)) for tenant in (first, second)] == [2, 1]
    with pytest.raises(notes.NotANote):
        notes.read(
            Checkpoint.objects.filter(tenant_id=first).latest("size").note,
            verifier_key=sealed.key(second),
        )


def test_small_batches_lead_to_the_same_tree(tenant_id: UUID) -> None:
    for _ in range(4):
        append_action(tenant_id=tenant_id, status="pending")
    while Leaf.objects.filter(tenant_id=tenant_id).count() < 4:
        sealer.seal(signer=sealed.SIGNER, batch=1)
    newest = Checkpoint.objects.filter(tenant_id=tenant_id).latest("size")
    leaves = [merkle.leaf_hash(text) for text in stored_lines(tenant_id)]
    assert (newest.size, bytes(newest.root)) == (4, merkle.tree_root(leaves))


def test_a_row_that_becomes_visible_late_is_waited_for_and_none_is_skipped(
    tenant_id: UUID, another_session: psycopg.Connection[Any]
) -> None:
    """The other session's transaction began before rows that are committed already."""
    another_session.execute("SELECT pg_current_xact_id()")
    append_action(tenant_id=tenant_id)
    sealer.seal(signer=sealed.SIGNER)
    assert Leaf.objects.filter(tenant_id=tenant_id).count() == 0
    another_session.rollback()
    sealed.seal(tenant_id)
    assert Leaf.objects.filter(tenant_id=tenant_id).count() == 2


def test_a_stalled_sealer_seals_what_is_visible_and_the_late_row_once_it_is(
    tenant_id: UUID, another_session: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other session appended, and its transaction stays open."""
    late = entry(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    another_session.execute(ledger.APPEND, ledger.parameters(late))
    append_action(tenant_id=tenant_id)
    monkeypatch.setattr(sealer, "PATIENCE_SECONDS", 3600)
    sealed.until(lambda: not sealer.is_stalled())
    monkeypatch.setattr(sealer, "PATIENCE_SECONDS", 0)
    assert sealer.is_stalled()
    sealer.seal(signer=sealed.SIGNER, out_of_order=True)
    assert Leaf.objects.filter(tenant_id=tenant_id).count() == 2
    monkeypatch.setattr(sealer, "PATIENCE_SECONDS", 3600)
    assert sealer.is_stalled()  # still: what is sealed now is out of order

    another_session.commit()
    sealed.until(lambda: not sealer.is_stalled())
    append_action(tenant_id=tenant_id)
    sealer.seal(signer=sealed.SIGNER)
    assert not Leaf.objects.filter(action_id=late.action_id).exists()
    sealer.seal(signer=sealed.SIGNER, out_of_order=True)
    leaves = Leaf.objects.filter(tenant_id=tenant_id).order_by("leaf_index")
    assert [leaf.leaf_index for leaf in leaves] == [0, 1, 2, 3, 4]
    assert leaves.filter(action_id=late.action_id).count() == 1
    assert list(Verification(tenant_id=tenant_id)) == []
    assert sealer.seal(signer=sealed.SIGNER, out_of_order=True) == 0


def test_the_sealer_looks_back_when_it_starts_and_after_a_stall(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop, stalls, looked = threading.Event(), [False, False, True, True, False, False], []

    def seal(*, signer: notes.Signer, out_of_order: bool) -> int:
        looked.append(out_of_order)
        if not stalls:
            stop.set()
        return 0

    monkeypatch.setattr(sealer, "is_stalled", lambda: stalls.pop(0))
    monkeypatch.setattr(sealer, "seal", seal)
    monkeypatch.setattr(seal_ledger, "TICK_SECONDS", 0)
    seal_ledger.tick([sealed.SIGNER], stop=stop)
    assert looked == [True, False, True, True, True, False]


def test_what_comes_in_while_the_sealer_seals_waits_for_the_next_tick(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a sealer beside busy writers would never rest. Only a full batch is gone on from."""
    stop, done, sealed_rows = threading.Event(), list[str](), [sealer.BATCH, 3, 2]

    def is_stalled() -> bool:
        done.append("tick")
        return False

    def seal(*, signer: notes.Signer, out_of_order: bool) -> int:
        done.append("seal")
        if len(sealed_rows) == 1:
            stop.set()
        return sealed_rows.pop(0)

    monkeypatch.setattr(sealer, "is_stalled", is_stalled)
    monkeypatch.setattr(sealer, "seal", seal)
    monkeypatch.setattr(seal_ledger, "TICK_SECONDS", 0)
    seal_ledger.tick([sealed.SIGNER], stop=stop)
    assert done == ["tick", "seal", "seal", "tick", "seal"]


def test_a_tick_begins_a_second_after_the_last_one_or_at_once_when_that_took_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited = list[float | None]()

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout)
            if len(waited) == 2:
                self.set()
            return self.is_set()

    monkeypatch.setattr(sealer, "is_stalled", lambda: False)
    monkeypatch.setattr(sealer, "seal", lambda **kwargs: 0)
    monkeypatch.setattr(seal_ledger, "monotonic", iter([10.0, 10.75, 11.0, 13.5]).__next__)
    seal_ledger.tick([sealed.SIGNER], stop=Stop())
    assert waited == [0.25, 0.0]


def test_sealing_what_is_there_ends_while_others_write(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [sealer.BATCH, sealer.BATCH, 5, 5]
    monkeypatch.setattr(sealer, "seal", lambda *, signer: left.pop(0))
    assert list(sealer.seal_all(signer=sealed.SIGNER)) == [sealer.BATCH, sealer.BATCH, 5]
    monkeypatch.setattr(sealer, "seal", lambda *, signer: None)  # another one is at work
    assert list(sealer.seal_all(signer=sealed.SIGNER)) == []


def test_a_second_sealer_steps_back(
    tenant_id: UUID, another_session: psycopg.Connection[Any]
) -> None:
    append_action(tenant_id=tenant_id)
    another_session.execute("SELECT pg_advisory_lock(%s)", [sealer.LOCK])
    another_session.commit()
    assert sealer.seal(signer=sealed.SIGNER) is None
    another_session.execute("SELECT pg_advisory_unlock(%s)", [sealer.LOCK])
    another_session.commit()
    sealed.seal(tenant_id)


def test_a_seal_that_breaks_off_leaves_nothing_and_the_next_one_goes_on(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_action(tenant_id=tenant_id)

    def broken(*_: object) -> tuple[object, ...]:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(sealer, "sign", broken)
        while not Leaf.objects.filter(tenant_id=tenant_id).exists():
            try:
                if sealer.seal(signer=sealed.SIGNER):
                    pytest.fail("It was sealed without a signature.")
            except RuntimeError:
                break
    assert not Leaf.objects.filter(tenant_id=tenant_id).exists()
    sealed.seal(tenant_id)
    assert len(stored_lines(tenant_id)) == 2


def test_a_database_whose_transactions_are_older_than_the_seals_is_refused(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    with transaction.atomic(using="ledger"), connections["ledger"].cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_leaf (row_id, action_id, tenant_id, leaf_index, xact, hash) "
            "VALUES (-1, gen_random_uuid(), %s, 99, '9000000000000', %s)",
            [tenant_id, bytes(32)],
        )
        with pytest.raises(signing_keys.CannotSeal, match="pg_resetwal"):
            sealer.seal(signer=sealed.SIGNER)
        transaction.set_rollback(True, using="ledger")


def test_the_last_sealed_transaction_is_found_by_number_not_by_text(tenant_id: UUID) -> None:
    with transaction.atomic(using="ledger"), connections["ledger"].cursor() as cursor:
        for row_id, xact in ((-2, "9" * 12), (-1, f"1{'0' * 12}")):
            cursor.execute(
                "INSERT INTO audit_leaf (row_id, action_id, tenant_id, leaf_index, xact, hash) "
                "VALUES (%s, gen_random_uuid(), %s, %s, %s, %s)",
                [row_id, tenant_id, -row_id, xact, bytes(32)],
            )
        cursor.execute(sealer.LAST)
        assert cursor.fetchone() == (f"1{'0' * 12}", -1)
        transaction.set_rollback(True, using="ledger")


def test_a_place_is_given_once(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    with pytest.raises(IntegrityError), connections["ledger"].cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_leaf SELECT -2, action_id, tenant_id, leaf_index, xact, hash "
            "FROM audit_leaf WHERE tenant_id = %s LIMIT 1",
            [tenant_id],
        )


@pytest.mark.parametrize("table", ["audit_leaf", "audit_checkpoint"])
@pytest.mark.parametrize(
    "change", ["UPDATE {} SET tenant_id = tenant_id", "DELETE FROM {}", "TRUNCATE {}"]
)
def test_seals_are_never_changed(tenant_id: UUID, table: str, change: str) -> None:
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    with (
        pytest.raises(Exception, match="The ledger only inserts"),
        connections["ledger"].cursor() as cursor,
    ):
        cursor.execute(change.format(table))
    with pytest.raises(AppendOnly):
        Checkpoint.objects.create()


def test_the_command_seals_what_is_there(tenant_id: UUID, settings: Settings) -> None:
    settings.LEDGER_SIGNING_KEY = sealed.SIGNING_KEY
    append_action(tenant_id=tenant_id)
    said = run_command("seal_ledger", "--once")
    assert said.startswith("Sealed ")


@pytest.mark.parametrize(
    ("key", "sentence"), [("", "Set LEDGER_SIGNING_KEY"), ("short", "openssl rand -base64 32")]
)
def test_the_command_refuses_without_a_signing_key(
    settings: Settings, key: str, sentence: str
) -> None:
    settings.LEDGER_SIGNING_KEY = key
    with pytest.raises(CommandError, match=sentence):
        call_command("seal_ledger", "--once")


def test_a_sealer_that_starts_waits_for_a_database_that_is_away(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LEDGER_SIGNING_KEY = sealed.SIGNING_KEY
    stop, asked = threading.Event(), []

    def away(signers: object) -> notes.Signer:
        asked.append(signers)
        if len(asked) == 2:
            stop.set()
        raise OperationalError

    monkeypatch.setattr(seal_ledger, "stopped", lambda: stop)
    monkeypatch.setattr(seal_ledger, "TICK_SECONDS", 0)
    monkeypatch.setattr(signing_keys, "signer_in_force", away)
    call_command("seal_ledger")
    assert len(asked) == 2


def test_the_sealer_seals_until_it_is_stopped(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_action(tenant_id=tenant_id)
    monkeypatch.setattr(seal_ledger, "TICK_SECONDS", 0.01)
    stop = threading.Event()
    sealer = threading.Thread(target=run, args=[stop])
    sealer.start()
    try:
        while Leaf.objects.filter(tenant_id=tenant_id).count() < 2:
            assert sealer.is_alive()
    finally:
        stop.set()
        sealer.join()


def run(stop: threading.Event) -> None:
    try:
        seal_ledger.tick([sealed.SIGNER], stop=stop)
    finally:
        connections.close_all()


def test_the_hash_is_of_the_line_with_the_prefix_of_a_leaf(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id, status="pending")
    sealed.seal(tenant_id)
    (text,) = stored_lines(tenant_id)
    leaf = Leaf.objects.get(tenant_id=tenant_id)
    assert bytes(leaf.hash) == hashlib.sha256(b"\0" + text).digest()
