"""A policy as a file: what is exported is imported, and nothing is misread."""

import pytest

from audit.contracts import Filters
from audit.ledger.selectors import actions
from guardrails.decide.policy_file import PolicyFile
from guardrails.models import AllowedAction, AllowedActionOption, TargetGroup
from guardrails.policies.changes import Author
from guardrails.policies.files import apply, differences, exported, whole
from guardrails.policies.text import PolicyFileError, parsed, read, write
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
COMMAND = Author(name="command", door="command")
CONDITIONS = [{"kind": "sender", "domains": ["company.com"]}]


@pytest.fixture
def policy(office: Office) -> PolicyFile:
    office.permit("archive", "ask", conditions=CONDITIONS)
    office.permit("classify")
    group = TargetGroup.objects.create(
        account=office.mailbox, name="Thread status", cardinality="single"
    )
    office.list_target("classify", "label", "label_fyi", "FYI", group=group)
    office.list_target("send_email", "recipient_domain", "client.com")
    return exported(office.mailbox)


def lines(office: Office, text: str) -> list[str]:
    return [str(one) for one in differences(office.mailbox, read(text))]


def history(office: Office) -> list[str]:
    filters = Filters(tenant_id=office.organisation.id, action_type="policy.change")
    return sorted(row.payload["kind"] for row in actions(filters=filters).rows)


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_is_exported_changes_nothing_when_imported(
    office: Office, policy: PolicyFile, form: str
) -> None:
    text = write(policy, form)
    assert read(text) == policy
    assert apply(office.mailbox, read(text), author=COMMAND) == ()
    assert history(office) == []


def test_an_empty_account_becomes_what_the_file_says(office: Office, policy: PolicyFile) -> None:
    AllowedAction.objects.all().delete()
    AllowedActionOption.objects.all().delete()
    TargetGroup.objects.all().delete()

    found = apply(office.mailbox, policy, author=COMMAND)

    assert exported(office.mailbox) == policy
    assert len(found) == 5
    assert history(office) == [
        "allowedaction",
        "allowedaction",
        "allowedactionoption",
        "allowedactionoption",
        "targetgroup",
    ]


def test_differences_are_shown_one_a_line(office: Office, policy: PolicyFile) -> None:
    text = """
    version: 1
    allowed_actions:
      - {action: archive, mode: auto, conditions: [{kind: thread}]}
      - {action: draft, mode: ask}
    """
    assert lines(office, text) == [
        "~ allowed action archive (mode: ask → auto; conditions: the mail is from somebody at "
        "company.com → the mail's thread has at least 2 mails)",
        "- allowed action classify (mode: auto; enabled: yes; conditions: none; "
        "patterns unapproved: no; confirm in words: no; hold seconds: 0)",
        "+ allowed action draft (mode: ask; enabled: yes; patterns unapproved: no; "
        "confirm in words: no; hold seconds: 0)",
    ]
    assert exported(office.mailbox) == policy


def test_a_section_that_is_left_out_stays(office: Office, policy: PolicyFile) -> None:
    apply(office.mailbox, read("version: 1\nallowed_actions: []"), author=COMMAND)
    after = exported(office.mailbox)
    assert after.allowed_actions == []
    assert (after.groups, after.targets) == (policy.groups, policy.targets)


def test_a_group_and_its_targets_go_together(office: Office, policy: PolicyFile) -> None:
    with pytest.raises(PolicyFileError, match="still used by a target"):
        apply(office.mailbox, read("version: 1\ngroups: []"), author=COMMAND)
    assert exported(office.mailbox) == policy
    assert history(office) == []
    apply(office.mailbox, read("version: 1\ngroups: []\ntargets: []"), author=COMMAND)
    assert (exported(office.mailbox).groups, exported(office.mailbox).targets) == ([], [])


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("allowed_actions: [{action: invented, mode: auto}]", "invented"),
        (
            "allowed_actions: [{action: create_jira_task, mode: auto}]",
            "needs issues that can be written to",
        ),
        ("allowed_actions: [{action: archive, mode: auto, conditions: [{kind: odd}]}]", "“odd”"),
        (
            "targets: [{action: classify, kind: label, id: x, name: X, group: Nowhere}]",
            "There is no group “Nowhere”",
        ),
        (
            "targets: [{action: send_email, kind: recipient, id: 'Ada <a@x.com>', name: Ada}]",
            "is not one plain address",
        ),
        (
            "targets: [{action: classify, kind: label, id: x, name: ''}]",
            "targets: “classify label x”: name: This field cannot be blank.",
        ),
    ],
)
def test_what_the_admin_would_refuse_is_refused_whole(
    office: Office, entry: str, sentence: str
) -> None:
    wanted = read(f"version: 1\ngroups: [{{name: New, cardinality: multi}}]\n{entry}")
    with pytest.raises(PolicyFileError, match=sentence):
        whole(office.mailbox, wanted)
    with pytest.raises(PolicyFileError, match=sentence):
        apply(office.mailbox, wanted, author=COMMAND)
    assert not TargetGroup.objects.exists()
    assert history(office) == []


@pytest.mark.parametrize("name", ["", "x" * 101])
def test_a_group_that_cannot_be_is_refused_before_anything_is_shown(
    office: Office, name: str
) -> None:
    wanted = parsed({"version": 1, "groups": [{"name": name, "cardinality": "multi"}]})
    with pytest.raises(PolicyFileError, match=r"groups: “x*”: name: "):
        whole(office.mailbox, wanted)
    with pytest.raises(PolicyFileError, match=r"groups: “x*”: name: "):
        apply(office.mailbox, wanted, author=COMMAND)
    assert history(office) == []


def test_nothing_but_what_is_expected_is_applied(office: Office) -> None:
    wanted = read("version: 1\nallowed_actions: [{action: archive, mode: ask}]\n")
    expected = differences(office.mailbox, wanted)
    office.permit("mark_read")

    with pytest.raises(PolicyFileError, match=r"The policy changed meanwhile\."):
        apply(office.mailbox, wanted, author=COMMAND, expected=expected)

    assert [one.action_type for one in AllowedAction.objects.filter(account=office.mailbox)] == [
        "mark_read"
    ]
    assert history(office) == []
