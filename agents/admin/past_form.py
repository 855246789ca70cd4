"""Which past mail a run is over: the form that starts one."""

from typing import Any
from uuid import UUID

from django import forms
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from agents.past import figures, runs
from agents.past.runs import Wanted
from guardrails.facts.text import visible
from integrations.models import Account, ProviderResource
from knowledge.search import mails

LAST = 500
DAY = UnfoldAdminTextInputWidget(attrs={"type": "date"})  # the browser's own picker
TRIAL, REAL = "trial", "real"
OFFERED = {"INBOX": "Inbox", "STARRED": "Starred"}
# No run is over mail that lies there.
NOT_OFFERED = frozenset({"SENT", "DRAFT", "TRASH", "SPAM"})


class StartForm(forms.Form):
    """Which mail, and whether it is only tried."""

    how = forms.ChoiceField(
        label="What to do",
        choices=[
            (TRIAL, "Try it: nothing is done, you see what it would do"),
            (REAL, "Do it: file and label these mails"),
        ],
        widget=UnfoldAdminSelectWidget,
    )
    last = forms.IntegerField(
        label="How many mails",
        min_value=1,
        max_value=runs.MOST,
        initial=LAST,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=f"The newest ones, {runs.MOST:,} at most.",
    )
    since = forms.DateField(label="From", required=False, widget=DAY)
    until = forms.DateField(label="Up to and including", required=False, widget=DAY)
    folder = forms.ChoiceField(
        label="Label or folder", required=False, widget=UnfoldAdminSelectWidget
    )
    writes_drafts = forms.BooleanField(
        label="Write drafts too",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="Mail that was answered since gets none.",
    )

    def __init__(self, account: Account, data: Any = None) -> None:
        super().__init__(data)
        self._names = name_offered(account.pk)
        counts = mails.count_labels(account.pk)
        named = sorted((self._names[one], one) for one in counts if one in self._names)
        self.fields["folder"].choices = [  # type: ignore[attr-defined]  # a choice field's
            ("", "All mail"),
            *((one, f"{name} ({counts[one]:,})") for name, one in named),
        ]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        since, until = given.get("since"), given.get("until")
        if since and until and until < since:
            self.add_error("until", "This day is before the first one.")
        return given

    def wanted(self) -> Wanted:
        """What was filled in. Needs a valid form."""
        given = self.cleaned_data
        return Wanted(
            last=given["last"],
            since=given["since"],
            until=given["until"],
            folder=given["folder"],
            folder_name=self._names.get(given["folder"], ""),
            is_trial=given["how"] == TRIAL,
            writes_drafts=given["writes_drafts"],
        )


def name_offered(account_id: UUID) -> dict[str, str]:
    """What labels and folders of the mailbox are called, by id, whether a policy lists them or not:
    it is tried before anything is permitted. Two queries."""
    rows = ProviderResource.objects.filter(account_id=account_id, resource_type__in=figures.PLACES)
    named = {id: visible(name, limit=80) for id, name in rows.values_list("external_id", "name")}
    listed = figures.name_places(account_id)
    return {id: name for id, name in (named | listed | OFFERED).items() if id not in NOT_OFFERED}
