"""Who somebody is that decides: every name by which one person is known in an organisation."""

from uuid import UUID

from django.contrib.auth.models import User
from django.db.models.functions import Lower

from guardrails.models import Approval
from integrations.models import Account, Membership


def find_names(by: str, external_user_id: str, organisation_id: UUID) -> frozenset[str]:
    """Of who speaks: `by` is their principal (`operator:…`, `user:…`, `token:…`), and for
    `external_user_id` they speak. An operator and a user are one person where a membership says so,
    or where the operator's mail address is that of the user's account. A token is nobody: it is
    whom it speaks for. Empty: nobody knows who it is. Five queries at most."""
    kind, _, name = by.partition(":")
    users = {external_user_id} if external_user_id else set()
    staff: set[int] = set()
    operators: set[str] = set()
    if kind == "user" and name:
        users.add(name)
    elif kind == "operator" and name:
        operators.add(by)
        staff |= _staff_named(name)
    accounts = Account.objects.filter(organisation_id=organisation_id).exclude(address="")
    members = Membership.objects.filter(organisation_id=organisation_id).exclude(
        external_user_id=""
    )
    users |= set(members.filter(user__in=staff).values_list("external_user_id", flat=True))
    addresses = accounts.annotate(plain=Lower("address"))
    mails = {mail.lower() for mail in _mails(staff)}
    users |= set(addresses.filter(plain__in=mails).values_list("external_user_id", flat=True))
    staff |= set(members.filter(external_user_id__in=users).values_list("user_id", flat=True))
    own = addresses.filter(external_user_id__in=users).values("plain")
    staff |= set(
        User.objects.annotate(plain=Lower("email"))
        .filter(plain__in=own)
        .values_list("pk", flat=True)
    )
    return frozenset(
        operators | {f"user:{one}" for one in users} | {f"staff:{one}" for one in staff}
    )


def find_requesters(approval: Approval) -> frozenset[str]:
    """Whose account it is, who asked for the action, and who changed it."""
    origin, organisation_id = approval.origin, approval.organisation_id
    return (
        find_names("", approval.external_user_id, organisation_id)
        | find_names(str(origin.get("actor", "")), "", organisation_id)
        | find_names(
            str(origin.get("edited_by", "")), str(origin.get("edited_as", "")), organisation_id
        )
    )


def _staff_named(name: str) -> set[int]:
    """The log-in, and others of the same mail address."""
    found = User.objects.filter(username=name).first()
    if found is None:
        return set()
    same = User.objects.filter(email__iexact=found.email) if found.email else User.objects.none()
    return {found.pk, *same.values_list("pk", flat=True)}


def _mails(staff: set[int]) -> set[str]:
    rows = User.objects.filter(pk__in=staff).exclude(email="")
    return set(rows.values_list("email", flat=True))
