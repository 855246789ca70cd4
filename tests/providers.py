"""A second provider of mail, for tests of what no provider of ours does: it loses its answers and
cannot tell what it did. Its mails are those of the sandbox."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from integrations.accounts import reads, writes
from integrations.exceptions import ProviderError, Unavailable
from integrations.ports import registry
from integrations.ports.evidence import CannotTell, Capabilities, Evidence
from integrations.ports.provider import Provider
from integrations.providers.data_service.reader import DataServiceReader
from integrations.providers.data_service.writer import DataServiceWriter

SOURCE = "forgetful"
NOTHING = Capabilities()


class Forgetful:
    """`answers` are its next answers to what became of a write, the last one again and again;
    `asked` counts the questions, `archived` holds the mails it had to archive."""

    def __init__(self) -> None:
        self.answers: Sequence[Evidence] = (CannotTell(ask_again_at=None),)
        self.error: ProviderError | None = Unavailable("broken after the last byte")
        self.asked = 0
        self.archived: list[str] = []

    def evidence(self, key: str) -> Evidence:
        self.asked += 1
        return self.answers[min(self.asked, len(self.answers)) - 1]

    def archive(self, email_id: str, *, key: str) -> dict[str, Any]:
        self.archived.append(email_id)
        if self.error is not None:
            raise self.error
        return {"id": email_id}


def install(monkeypatch: pytest.MonkeyPatch, *, capabilities: Capabilities = NOTHING) -> Forgetful:
    """Adds it to the registry for one test: sources of mail that can be written to."""
    provider = Forgetful()

    class Reader(DataServiceReader):
        def evidence(self, key: str) -> Evidence:
            return provider.evidence(key)

    class Writer(DataServiceWriter):
        def archive(self, email_id: str, *, key: str) -> dict[str, Any]:
            return provider.archive(email_id, key=key)

    connector = replace(
        registry.BY_SOURCE["gmail"],
        source=SOURCE,
        label="Forgetful",
        capabilities=capabilities,
    )
    declared = Provider(name=SOURCE, label="Forgetful", connectors=(connector,))
    monkeypatch.setitem(registry.BY_SOURCE, SOURCE, connector)
    monkeypatch.setitem(registry.PROVIDER_OF, SOURCE, declared)
    monkeypatch.setitem(reads.READERS, SOURCE, Reader)
    monkeypatch.setitem(writes.WRITERS, SOURCE, Writer)
    return provider
