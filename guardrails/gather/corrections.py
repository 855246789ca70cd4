"""What the person said before about a label that a mail is about to get."""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import OuterRef, Q, Subquery

from guardrails.contracts import ActionRequest
from guardrails.facts.corrections import Correction
from guardrails.facts.facts import Facts
from guardrails.facts.targets import address_or_none
from guardrails.models import LabelCorrection, LearnedPattern
from integrations.contracts import AccountRef, Email

MOST = 20  # the newest; of each mail and label there is one


def like(account: AccountRef, email: Email) -> Q:
    """Corrections about this very mail, and about mail of its sender through the same list. Who
    bears that sender's name without proof is not like them."""
    same = Q(item_id=email.id)
    if sender := find_sender(email):
        same |= Q(sender=sender, list_id=email.list_id or "")
    return Q(account_id=account.id) & same


def find_sender(email: Email) -> str:
    """The plain address, in small letters, that is proved to have sent it; else empty."""
    proved = email.authentication.dmarc == "pass"
    return ((address_or_none(email.sender) or "") if proved else "").lower()


def look_up(request: ActionRequest, facts: Facts, labels: Sequence[str]) -> Facts:
    """The facts with what the person said of these labels on like mail, and when the pattern that
    acts was approved. One query; none where a mail gets no label."""
    if facts.email is None or not labels:
        return facts
    acts = LearnedPattern.objects.filter(account_id=OuterRef("account_id"))
    acts = acts.filter(id=request.origin.pattern_id) if request.origin.pattern_id else acts.none()
    rows = (
        LabelCorrection.objects.filter(like(request.account, facts.email), label_id__in=labels)
        .annotate(approved=Subquery(acts.values("approved_at")))
        .order_by("-at")
        .values_list("label_id", "at", "lifted_at", "approved")[:MOST]
    )
    found = list(rows)
    return replace(
        facts,
        corrections=tuple(
            Correction(label_id=label_id, at=at, lifted_at=lifted)
            for label_id, at, lifted, _ in found
        ),
        pattern_approved_at=found[0][3] if found else None,
    )
