"""A directory put in place as a whole: from a file or a provider, and recorded as policy."""

from typing import Any
from uuid import uuid4

import pytest

from guardrails.models import Person
from guardrails.policies import directory
from guardrails.policies.changes import Author
from guardrails.policies.directory import DirectoryChanged, differences, digest
from guardrails.policies.directory_file import DirectoryFileError, Entry
from guardrails.policies.history import history
from integrations.models import Organisation
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
AUTHOR = Author(name="command", door="command")
OPERATOR, PROVIDER = Person.Source.OPERATOR, Person.Source.PROVIDER
ZOE = Entry(address="zoe@company.com", name="Zoë Müller")
ALL = Entry(address="all@company.com", name="Everyone", is_group=True)


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug=f"org-{uuid4().hex[:8]}", name="House")


def employ(organisation: Organisation, name: str, address: str, **fields: Any) -> Person:
    return Person.objects.create(organisation=organisation, name=name, address=address, **fields)


def people(organisation: Organisation) -> dict[str, tuple[str, list[str], bool, str]]:
    rows = organisation.people.all()
    return {one.address: (one.name, one.other_names, one.is_group, one.source) for one in rows}


def test_a_file_adds_and_changes_and_leaves_what_it_does_not_say(
    organisation: Organisation,
) -> None:
    employ(organisation, "Zoe Miller", ZOE.address, other_names=["Zo"])
    employ(organisation, "Tom Becker", "tom@company.com")

    found = directory.apply(organisation, [ZOE, ALL], source=OPERATOR, whole=False, author=AUTHOR)

    assert list(map(str, found)) == [
        "+ all@company.com: Everyone, a group: many people read it, entered or imported",
        "~ zoe@company.com: Zoe Miller, also called Zo, entered or imported → "
        "Zoë Müller, also called Zo, entered or imported",
    ]
    assert people(organisation) == {
        "all@company.com": ("Everyone", [], True, "operator"),
        "tom@company.com": ("Tom Becker", [], False, "operator"),
        "zoe@company.com": ("Zoë Müller", ["Zo"], False, "operator"),
    }
    row = organisation.people.get(address=ZOE.address)
    assert row.words == ["mueller", "muller", "zo", "zoe"]
    changes = history(organisation_id=organisation.pk).changes
    assert {(one.who, one.verb, one.kind, one.name) for one in changes} == {
        ("command", "added", "person of the directory", "Everyone <all@company.com>"),
        ("command", "changed", "person of the directory", "Zoë Müller <zoe@company.com>"),
    }
    again = differences(organisation, [ZOE, ALL], source=OPERATOR, whole=False)
    assert again == ()


def test_a_whole_file_removes_whom_it_does_not_name(organisation: Organisation) -> None:
    employ(organisation, "Tom Becker", "tom@company.com")
    employ(organisation, "Ann Lee", "ann@company.com", source=PROVIDER)

    directory.apply(organisation, [ZOE], source=OPERATOR, whole=True, author=AUTHOR)

    assert sorted(people(organisation)) == ["ann@company.com", "zoe@company.com"]


def test_a_provider_changes_nothing_that_an_operator_entered(organisation: Organisation) -> None:
    employ(organisation, "Zoë Müller", ZOE.address)
    employ(organisation, "Tom Becker", "tom@company.com", source=PROVIDER)
    imitation = Entry(address=ZOE.address, name="Priya Shah", other_names=(), is_group=False)

    found = differences(organisation, [imitation], source=PROVIDER, whole=True)

    assert [(one.verb, one.address) for one in found] == [("removed", "tom@company.com")]


def test_another_organisation_stays_as_it_is(organisation: Organisation) -> None:
    other = Organisation.objects.create(slug=f"org-{uuid4().hex[:8]}", name="Elsewhere")
    employ(other, "Tom Becker", "tom@company.com")

    directory.apply(organisation, [ZOE], source=OPERATOR, whole=True, author=AUTHOR)

    assert people(other) == {"tom@company.com": ("Tom Becker", [], False, "operator")}


def test_nothing_but_what_was_shown_is_applied(organisation: Organisation) -> None:
    shown = digest(differences(organisation, [ZOE], source=OPERATOR, whole=True))
    employ(organisation, "Tom Becker", "tom@company.com")

    with pytest.raises(DirectoryChanged):
        directory.apply(
            organisation, [ZOE], source=OPERATOR, whole=True, author=AUTHOR, expected=shown
        )

    assert sorted(people(organisation)) == ["tom@company.com"]
    assert history(organisation_id=organisation.pk).changes == ()


def test_a_change_that_the_ledger_does_not_take_is_not_made(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the ledger is away")

    monkeypatch.setattr("guardrails.policies.changes.ledger.append", broken)

    with pytest.raises(RuntimeError):
        directory.apply(organisation, [ZOE, ALL], source=OPERATOR, whole=False, author=AUTHOR)

    assert people(organisation) == {}


def test_a_providers_directory_is_read_page_by_page_and_what_is_no_name_left_out(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "PAGE", 2)
    office.list_people(
        {"address": "zoe@company.com", "name": "Zoë Müller", "other_names": ["Zo"]},
        {"address": "all@company.com", "name": "Everyone", "group": True},
        {"address": "eve@company.com", "name": "Priya <priya@company.com>"},
        {"address": "tom@xn--company.com", "name": "Tom"},
        {"address": "mal@company.com", "name": "=cmd|' /C calc'!A0"},
    )

    entries, left_out = directory.read_provider(office.mailbox.ref())

    assert entries == (
        Entry(address="zoe@company.com", name="Zoë Müller", other_names=("Zo",), is_group=False),
        Entry(address="all@company.com", name="Everyone", other_names=(), is_group=True),
    )
    assert [one.partition(" ")[0] for one in left_out] == [
        "“eve@company.com”",
        "“tom@xn--company.com”",
        "“mal@company.com”",
    ]
    assert office.calls() == []


def test_a_provider_that_names_too_many_is_not_read(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "MOST_LINES", 1)
    office.list_people(
        {"address": "zoe@company.com", "name": "Zoe"},
        {"address": "tom@company.com", "name": "Tom"},
    )
    with pytest.raises(DirectoryFileError, match="more than 1 people"):
        directory.read_provider(office.mailbox.ref())
