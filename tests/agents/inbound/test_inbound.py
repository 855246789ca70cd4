"""Whose mail it is that arrived."""

import pytest

from agents.inbound.inbound import is_own
from tests.agents.learn.test_matching import ACCOUNT
from tests.knowledge.office import email


@pytest.mark.parametrize(
    ("sender", "labels", "own"),
    [
        ("ann@client.com", ["INBOX"], False),
        ("Maya@Company.com", ["INBOX"], True),  # to oneself, or in the name of oneself
        ("m.lindqvist@company.com", ["SENT"], True),  # from another address of the user's
        ("m.lindqvist@company.com", ["DRAFT"], True),
    ],
)
def test_nobody_looks_at_what_the_user_wrote(sender: str, labels: list[str], own: bool) -> None:
    assert is_own(ACCOUNT, email(**{"from": sender, "labels": labels})) is own
