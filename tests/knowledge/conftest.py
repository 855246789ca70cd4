from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.knowledge.answers import READER, summarised

if TYPE_CHECKING:
    from tests.knowledge.mailboxes import Mailbox
    from tests.model_server import ScriptedModel

# This file is read before Django is set up: what needs it is imported in the fixtures.


@pytest.fixture
def model(settings: Any) -> "Iterator[ScriptedModel]":
    """A model that summarises whatever it is shown."""
    from tests.model_server import scripted_model

    with scripted_model(settings, {READER: summarised}) as running:
        yield running


@pytest.fixture
def mailbox(monkeypatch: pytest.MonkeyPatch) -> "Mailbox":
    from integrations.accounts import reads
    from tests.knowledge.mailboxes import Mailbox

    box = Mailbox(5)
    monkeypatch.setattr(reads, "reader", lambda account: box)
    return box
