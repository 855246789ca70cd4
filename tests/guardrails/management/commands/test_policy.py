"""`manage.py policy` as people type it."""

from pathlib import Path

import pytest
from django.core.management import CommandError

from guardrails.models import AllowedAction
from integrations.models import Account
from tests.commands import run_command

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def policy(*words: str, user: str = "maya") -> str:
    return run_command("policy", "--user", user, "--source", "gmail", *words)


def test_a_preset_is_shown_before_it_is_applied(mailbox: Account) -> None:
    shown = policy("import", "--preset", "newsletter-triage")
    assert not AllowedAction.objects.exists()
    assert shown.endswith("2 entries would change. Add --apply to change them.\n")
    applied = policy("import", "--preset", "newsletter-triage", "--apply")
    assert applied.endswith("2 entries changed.\n")
    to_mend = "! error: Label a mail · automatic: It permits nothing: no label is listed.\n"
    assert to_mend in shown
    assert to_mend in applied
    assert policy("import", "--preset", "newsletter-triage") == f"{to_mend}Nothing differs.\n"


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_an_exported_file_is_imported(mailbox: Account, tmp_path: Path, form: str) -> None:
    AllowedAction.objects.create(account=mailbox, action_type="archive", approval_mode="auto")
    file = tmp_path / "policy"
    file.write_text(policy("export", "--format", form))
    AllowedAction.objects.update(approval_mode="never")
    assert "~ allowed action archive (mode: never → auto)" in policy("import", str(file), "--apply")
    assert AllowedAction.objects.get().approval_mode == "auto"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["import"], "Name a file or a --preset"),
        (["import", "nowhere.yaml"], "cannot be read"),
    ],
)
def test_mistakes_are_said_in_words(mailbox: Account, words: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        policy(*words)


def test_a_bad_file_changes_nothing(mailbox: Account, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("version: 1\nallowed_actions: [{action: invented, mode: auto}]")
    with pytest.raises(CommandError, match=r"Nothing was changed\."):
        policy("import", str(file), "--apply")


def test_an_account_that_is_not_there_is_named(mailbox: Account) -> None:
    with pytest.raises(CommandError, match="has no gmail account of “omar”"):
        policy("export", user="omar")
