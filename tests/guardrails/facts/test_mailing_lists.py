from typing import Any

import pytest

from guardrails.facts.mailing_lists import is_list_host, posted_to
from tests.guardrails.values import ADA, ME, email

DEV = "dev@python.example"


@pytest.mark.parametrize(
    ("fields", "lists"),
    [
        ({}, set()),
        ({"list_post": DEV}, {DEV}),
        ({"list_post": DEV, "to": ("Dev@Python.example", ME)}, {DEV}),
        ({"list_id": "<dev.python.example>"}, {DEV}),
        ({"list_id": "<team@groups.example>"}, {"team@groups.example"}),
        ({"list_id": "<weekly>"}, set()),
        ({"precedence": "bulk"}, set()),
        # It says that it is a list, and not which: everybody it names may be it.
        ({"precedence": "list", "to": (DEV, "x@y.example")}, {DEV, "x@y.example"}),
        ({"precedence": "list", "to": (DEV,), "reply_to": (DEV,)}, {DEV}),
        ({"precedence": "list", "to": (ME, ADA)}, {ME}),
        ({"precedence": "list", "list_id": "<dev.python.example>", "to": (DEV, ME)}, {DEV}),
        ({"list_post": DEV, "from": DEV, "to": (ME,)}, {DEV}),
        ({"list_post": DEV, "precedence": "list", "to": ("alias@python.example",)}, {DEV}),
    ],
)
def test_a_list_is_known_by_the_headers_of_its_mail(
    fields: dict[str, Any], lists: set[str]
) -> None:
    assert posted_to(email(**fields)) == lists


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("debian-user@lists.debian.org", True),
        ("x@listserv.uni.example", True),
        ("friends@googlegroups.com", True),
        ("a@sub.groups.io", True),
        ("a@lists.com", False),
        ("lists@client.com", False),
        ("a@mylists.example", False),
        ("a@notgooglegroups.com", False),
    ],
)
def test_a_host_of_nothing_but_lists(address: str, expected: bool) -> None:
    assert is_list_host(address) is expected
