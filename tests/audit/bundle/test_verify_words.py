"""A bundle is checked by the words that it was made with, and says nothing twice today."""

import json
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from audit.bundle import verify
from audit.ledger import sentences
from guardrails.facts.reasons import SENTENCES
from tests.audit import sealed
from tests.audit.bundle import files as bundles, test_derived, words
from tests.audit.bundle.files import Files

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def test_rows_are_said_in_the_words_of_today(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id = words.settle()
    data = words.make(tenant_id)
    files = bundles.unpack(data)
    assert json.loads(files["manifest.json"])["words"] == verify.WORDS[-1]
    cells = test_derived.read_csv(files[verify.TABLE])
    assert [(row["sentence"], row["object"]) for row in cells] == [
        (row.second, row.description) for row in words.ROWS
    ]
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0
    assert f"word for word: {verify.TABLE}, {verify.REPORT}." in capsys.readouterr().out


def test_a_bundle_of_the_first_words_is_what_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = words.FIRST.read_bytes()
    files = bundles.unpack(data)
    assert "words" not in json.loads(files["manifest.json"])
    cells = test_derived.read_csv(files[verify.TABLE])
    assert [row["sentence"] for row in cells] == [row.first for row in words.ROWS]
    assert bundles.check(tmp_path, data, words.KEY) == 0
    assert f"word for word: {verify.TABLE}, {verify.REPORT}." in capsys.readouterr().out


@pytest.mark.parametrize("alter", words.FINDINGS, ids=lambda alter: alter.__name__)
@pytest.mark.parametrize("is_new", [False, True])
def test_a_bundle_is_held_to_the_words_that_its_manifest_names(
    alter: Callable[[Files], None],
    is_new: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tenant_id = words.settle() if is_new else None
    data = words.make(tenant_id) if tenant_id else words.FIRST.read_bytes()
    files = bundles.unpack(data)
    alter(files)
    key = sealed.key(tenant_id) if tenant_id else words.KEY
    code = bundles.check(tmp_path, bundles.pack(files), key)
    found = words.FINDINGS[alter][is_new]
    said = capsys.readouterr().out
    assert code == bool(found), said
    assert found in said
    if found != words.OF_ANOTHER_FORMAT:
        assert (f"{verify.REPORT} is not what the rows say." in said) is bool(found)


def test_unknown_words_are_refused_where_nothing_is_said_in_them(tmp_path: Path) -> None:
    tenant_id: UUID = words.settle()
    files = bundles.unpack(bundles.make(tenant_id))
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 0
    words.say_unknown(files)
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 1


def test_what_is_not_said_again_is_what_the_guardrails_say() -> None:
    """Else a reason that was reworded would be said twice again."""
    assert (sentences.AGAIN, sentences.STATES) == (verify.AGAIN, verify.STATES)
    for again, _ in sentences.AGAIN.values():
        assert any(f". {why}".endswith(again) for why in SENTENCES.values()), again
