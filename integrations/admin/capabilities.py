"""What Remit can prove about an account, in words for operators."""

from collections.abc import Iterator, Mapping

from integrations.ports.evidence import Grade
from integrations.ports.provider import Connector

GRADES: Mapping[Grade, str] = {
    "A": "When an answer is lost, the provider says for certain whether the write was done.",
    "B": "The provider keeps what is to be done and does it once, even when an answer is lost.",
    "C": "When an answer is lost, the write is searched for at the provider, which takes a while.",
    "D": "When an answer is lost, the provider cannot say whether the write was done: a person "
    "is asked.",
}


def in_words(connector: Connector) -> Iterator[str]:
    """Short sentences, the most important first."""
    found = connector.capabilities
    if connector.is_writable:
        yield GRADES[found.grade]
        yield (
            "The provider refuses to change what was changed meanwhile."
            if found.conditional_write
            else "Remit looks before it writes. What is changed in that moment can be overwritten."
        )
    else:
        yield "Remit only reads here."
    yield (
        "The provider's history is compared with the ledger."
        if found.history
        else "There is no history to compare with the ledger."
    )
