from knowledge.text.parsing import parse
from knowledge.text.subjects import Subject, subjects
from tests.knowledge.office import email, issue

JOHN = Subject(kind="person", role="sender", name="John Smith", address="john@company.com")
MAYA = Subject(kind="person", role="participant", name="", address="maya@company.com")


def test_sender_and_receivers_come_before_what_a_model_found() -> None:
    found = [{"type": "Topic", "name": "customer portal"}]

    assert subjects(parse(email(), source_id="m1"), found) == (
        JOHN,
        MAYA,
        Subject(kind="topic", role="subject", name="customer portal"),
    )


def test_a_person_the_model_names_again_stays_the_sender() -> None:
    found = [{"type": "person", "name": "J. Smith", "email": "JOHN@company.com"}]

    assert subjects(parse(email(), source_id="m1"), found) == (JOHN, MAYA)


def test_an_address_that_is_not_in_the_item_is_not_believed() -> None:
    found = [{"type": "person", "name": "Eve", "email": "eve@evil.example"}]

    assert subjects(parse(email(), source_id="m1"), found)[-1] == Subject(
        kind="person", role="subject", name="Eve", address=""
    )


def test_an_issue_belongs_to_its_project() -> None:
    assert Subject(kind="project", role="subject", name="PROJ") in subjects(
        parse(issue(), source_id="i1"), []
    )


def test_what_is_no_entity_is_let_go() -> None:
    found = ["x", None, 7, {"type": "person"}, {"type": "weapon", "name": "x"}, {"name": "x"}]

    assert subjects(parse(email(), source_id="m1"), found) == (JOHN, MAYA)


def test_a_name_without_letters_is_nobody() -> None:
    found = [{"type": "topic", "name": " -- "}]

    assert subjects(parse(email(), source_id="m1"), found) == (JOHN, MAYA)
