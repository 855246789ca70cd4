"""What a row of deliveries and turns is about, and how pages show it."""

from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from audit.ledger import timeline
from integrations.web.admin_pages import LINK
from knowledge.models import Item

SUBJECT_CHARS = 80
OUTCOME = "What came of it"  # as the page of an item says it


def find_title(source_id: str) -> Subquery:
    """The title of the item that a row is about."""
    items = Item.objects.filter(account=OuterRef("account"), source_id=OuterRef(source_id))
    return Subquery(items.values("title")[:1])


def shorten(text: str | None) -> str:
    return timeline.reveal(Truncator(" ".join((text or "").split())).chars(SUBJECT_CHARS)) or "-"


def link_item(account_id: UUID | None, source_id: str) -> SafeString | str:
    """The page of what was read in, if it was."""
    if not (account_id and source_id):
        return "-"
    found = Item.objects.filter(account_id=account_id, source_id=source_id).only("title").first()
    if not found:
        return "-"
    title = timeline.reveal(found.title) or "Untitled"
    return format_html(LINK, reverse("admin:knowledge_item_change", args=[found.id]), title)


def preformatted(text: str) -> SafeString:
    return format_html('<pre class="whitespace-pre-wrap break-all">{}</pre>', text)
