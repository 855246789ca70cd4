"""Finding by words from any page: pages, people, mails and rows. Only what somebody may see, of the
organisations that they meet."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from agents.models import Turn
from agents.office.sidebar import navigation
from audit.ledger import people, provider_side, search, selectors, timeline
from audit.ledger.sentences import say
from guardrails.models import Approval, Person
from guardrails.models.directory import of_people
from integrations.models import Account, Delivery
from integrations.web import staff
from integrations.web.words import named
from knowledge.ingest.indexing import words_query
from knowledge.models import Item

MOST = 5  # of each kind
MOST_CHARS = 200


@dataclass(frozen=True, kw_only=True)
class Found:
    title: str
    about: str
    link: str


Look = Callable[[HttpRequest, str], Iterable[Found]]


@require_GET
@never_cache
def view(request: HttpRequest) -> HttpResponse:
    """`?q=`: what is found, as a list for the dialog that is on every page."""
    words = " ".join(request.GET.get("q", "").replace("\0", "").split())[:MOST_CHARS]
    return render(request, "agents/found.html", {"groups": find(request, words), "words": words})


def find(request: HttpRequest, words: str) -> list[tuple[str, list[Found]]]:
    """At most MOST of each kind, by what they are; a kind of which nothing fits is left out. A
    fixed number of queries."""
    looks: tuple[tuple[str, str, Look], ...] = (
        ("Pages", "", _pages),
        ("Accounts", "integrations.view_account", _accounts),
        ("People", "guardrails.view_person", _people),
        ("Users", "auth.view_user", _staff),
        ("Mails and documents", "knowledge.view_item", _items),
        ("Waiting for approval", "guardrails.view_approval", _approvals),
        ("Rows of this id", "", _rows),
        ("Ledger", "audit.view_executedagentaction", _actions),
    )
    if not words:
        return []
    found = [
        (title, list(look(request, words))[:MOST])
        for title, right, look in looks
        if not right or request.user.has_perm(right)
    ]
    return [(title, rows) for title, rows in found if rows]


def _pages(request: HttpRequest, words: str) -> Iterable[Found]:
    wanted = words.casefold().split()
    for group in navigation(request):
        for item in group["items"]:
            named = f"{group['title']} {item['title']}".casefold()
            if all(word in named for word in wanted):
                yield Found(title=item["title"], about=group["title"], link=item["link"])


def _accounts(request: HttpRequest, words: str) -> Iterable[Found]:
    theirs = of_people(words, staff.met(request.user))
    rows = Account.objects.filter(theirs).order_by("external_user_id", "source")
    for row in rows[:MOST]:
        link = reverse("admin:integrations_account_change", args=[row.id])
        yield Found(title=timeline.reveal(str(row)), about=timeline.reveal(row.address), link=link)


def _people(request: HttpRequest, words: str) -> Iterable[Found]:
    rows = staff.bind(Person.objects.all(), request.user, "organisation")
    for row in rows.filter(named(words, "name", "address")).order_by("name")[:MOST]:
        link = reverse("admin:guardrails_person_change", args=[row.pk])
        yield Found(title=timeline.reveal(row.name), about=timeline.reveal(row.address), link=link)


def _staff(request: HttpRequest, words: str) -> Iterable[Found]:
    rows = staff.bind(User.objects.filter(is_staff=True), request.user, "memberships__organisation")
    rows = rows.filter(named(words, "first_name", "last_name", "username", "email")).distinct()
    for row in rows.order_by("username")[:MOST]:
        link = reverse("admin:auth_user_change", args=[row.pk])
        title = row.get_full_name() or row.username
        yield Found(title=timeline.reveal(title), about=timeline.reveal(row.username), link=link)


def _items(request: HttpRequest, words: str) -> Iterable[Found]:
    rows = staff.bind(Item.objects.all(), request.user, "account__organisation")
    rows = rows.filter(search=words_query(words), deleted_at=None).order_by("-occurred_at")
    for row in rows.only("title", "sender_name", "sender_address", "occurred_at", "id")[:MOST]:
        who = row.sender_name or row.sender_address
        day = f"{row.occurred_at:%-d %B %Y}"
        yield Found(
            title=timeline.reveal(row.title or "Untitled"),
            about=timeline.reveal(" · ".join(filter(None, (who, day)))),
            link=reverse("admin:knowledge_item_change", args=[row.id]),
        )


def _approvals(request: HttpRequest, words: str) -> Iterable[Found]:
    rows = staff.bind(Approval.objects.all(), request.user, "organisation")
    rows = rows.filter(named(words, "description"), state=Approval.State.PENDING)
    found = list(rows.order_by("-created_at")[:MOST])
    users = {row: (row.organisation_id, f"{people.USER}{row.external_user_id}") for row in found}
    called = people.name_each(users.values())
    for row in found:
        link = reverse("admin:guardrails_approval_change", args=[row.id])
        about = f"for {called[users[row]]}"
        yield Found(title=timeline.reveal(row.description), about=timeline.reveal(about), link=link)


def _rows(request: HttpRequest, words: str) -> Iterable[Found]:
    """What has exactly this id: an action of the ledger, a turn, a delivery."""
    try:
        key = UUID(words)
    except ValueError:
        return
    may = request.user.has_perm
    if may("audit.view_executedagentaction"):
        last = selectors.recorded(key)[-1:]
        if last and staff.may_meet(request.user, last[0].tenant_id):
            ledger = reverse("admin:audit_executedagentaction_changelist")
            yield Found(title=last[0].action_type, about="Ledger", link=f"{ledger}?q={key}")
    for right, model, name in (
        ("agents.view_turn", Turn, "agents_turn"),
        ("integrations.view_delivery", Delivery, "integrations_delivery"),
    ):
        rows = staff.bind(model._default_manager.filter(id=key), request.user, "organisation")
        if may(right) and rows.exists():
            link = reverse(f"admin:{name}_change", args=[key])
            yield Found(title=str(model._meta.verbose_name), about=str(key), link=link)


def _actions(request: HttpRequest, words: str) -> Iterable[Found]:
    """The newest of the ledger that the words are about, as its page says them."""
    met = staff.met(request.user)
    tenants = provider_side.list_tenants() if met is None else met
    ledger = reverse("admin:audit_executedagentaction_changelist")
    rows = search.find_newest(words, tenants=tenants, limit=MOST)
    names = people.find_names(rows)
    for row in rows:
        _, sentence = say(row.action_type, row.status, row.payload)
        who = people.call_user(row.tenant_id, row.on_behalf_of, names) or people.who(row, names)
        about = " · ".join(filter(None, (who, timeline.moment(row.recorded_at))))
        yield Found(
            title=timeline.reveal(sentence),
            about=timeline.reveal(about),
            link=f"{ledger}{row.id}/change/",
        )
