"""The policies that decided, in the admin."""

import json

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.decorators import display

from audit.admin.base import LookOnly
from audit.ledger import policies, selectors, timeline, vault
from audit.models import LedgerPolicy

PREFORMATTED = '<pre class="whitespace-pre-wrap break-all">{}</pre>'


class PolicyVersionAdmin(LookOnly):
    """Policies by the digest that decisions name."""

    empty = "Each policy that an action was decided by is stored here, once."

    list_display = ("digest", "recorded_at")
    ordering = ("-recorded_at",)
    search_fields = ("digest",)
    search_help_text = "The whole digest, as a decision names it"
    fields = ("digest", "tenant_id", "recorded_at", "policy")
    readonly_fields = fields

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[LedgerPolicy], search_term: str
    ) -> tuple[QuerySet[LedgerPolicy], bool]:
        term = search_term.strip()
        return (queryset.filter(digest=term) if term else queryset), False

    @display(description="policy")  # type: ignore[untyped-decorator]
    def policy(self, row: LedgerPolicy) -> str:
        try:
            body = policies.opened(row.tenant_id, row.digest, row.body, row.box)
        except policies.Altered:
            return "The policy stored here does not fit its digest. Run manage.py verify_ledger."
        except vault.WrongVaultKey:
            return selectors.LOCKED
        if body is None:
            return "It cannot be read: the organisation's data key is gone."
        return format_html(PREFORMATTED, timeline.pretty(json.loads(body)))
