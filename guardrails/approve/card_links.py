"""The link of a message to its card: signed over what the message showed.

It grants nothing. Who opens it logs in, and decides by the rights that they have. So it may lie in
a mailbox, and whatever opens it there decides nothing. What it is good for ends with what it leads
to: nobody decides about a card twice, or after it has expired.
"""

from urllib.parse import urlencode
from uuid import UUID

from django.core.signing import BadSignature, Signer
from django.urls import reverse

from guardrails.contracts.cards import ApprovalCard
from guardrails.models import Approval


def _signer() -> Signer:
    # Asked for when it is used: the process that migrates has no key.
    return Signer(salt="guardrails.approve.card_links")


def path(card: ApprovalCard) -> str:
    """From the root of the site, so that it is the same behind whatever name."""
    signature = _signer().signature(_words(card.id, card.digest))
    query = urlencode({"digest": card.digest, "signature": signature})
    return f"{reverse('card', args=[card.id])}?{query}"


def is_ours(approval_id: UUID, *, digest: str, signature: str) -> bool:
    """Whether Remit sent a message that showed this card in this state."""
    try:
        _signer().unsign(f"{_words(approval_id, digest)}:{signature}")
    except BadSignature:
        return False
    return True


def newest(row: Approval) -> Approval:
    """What it was changed into, step by step; itself where nobody changed it."""
    while following := Approval.objects.filter(revises=row).first():
        row = following
    return row


def _words(approval_id: UUID, digest: str) -> str:
    return f"{approval_id} {digest}"
