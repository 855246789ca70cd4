"""Pages of runs over past mail: started by a form, paused and stopped by buttons, and shown with
figures, examples and a log while they go on."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import display

from agents import tasks
from agents.admin.past_form import StartForm
from agents.models import PastMail, PastRun
from agents.past import figures, runs
from agents.past.runs import AlreadyOpen, Wanted
from audit.ledger.people_admin import PeopleAdmin
from integrations.models import Account
from integrations.ports.registry import writable
from integrations.web import staff
from integrations.web.admin_lists import NewestFirst
from integrations.web.admin_pages import RowPage, ViewOnly, operator
from knowledge.ingest.reading import SENTENCES

COLOURS = {
    "Waiting": "info",
    "Running": "info",
    "Paused": "warning",
    "Done": "success",
    "Stopped": "warning",
}
STATES = {
    "queued": "It waits for a worker.",
    "running": "It is under way.",
    "paused": "It is paused. What was under way then is finished first.",
    "done": "It is done.",
    "stopped": "It was stopped before the end. What was under way then is finished first, and what "
    "was done stays.",
}
WAITS = {
    "stopped": "It waits, because actions of this account are stopped.",
    "in_work": "It waits for a mail that another process works on.",
}
LEFT_OUT = {
    "deleted": "no longer there",
    "own_mail": "written by the user",
    "from_remit": "written by Remit itself",
    "duplicate_item": "worked through before",
}
NO_MAIL = "No mail that was read in fits. Choose others, or read the account in."


@admin.register(PastRun)
class PastRunAdmin(PeopleAdmin, ViewOnly, NewestFirst, RowPage):
    empty = (
        "See what the agent would do with the last 500 mails of a mailbox before anything is "
        "switched on: press the button to add a run, and choose to try it."
    )
    organisation_path = "account__organisation"
    newest_by = "created_at"
    list_display = ("created_at", "account", "how", "mail", "state_label", "finished_at")
    people = {"started_by": "Started by", "changed_by": "Last word by"}
    list_filter = ("state", "is_trial")
    list_select_related = ("account__organisation",)
    fields = (
        *("account", "how", "mail", "writes_drafts", "started_by", "changed_by"),
        *("created_at", "finished_at"),
    )
    readonly_fields = fields  # a run is started by a form of its own
    change_form_outer_before_template = "agents/past_run.html"
    buttons = {
        "pause": ("agents.change_pastrun",),
        "resume": ("agents.change_pastrun",),
        "stop": ("agents.change_pastrun",),
        "again": ("agents.add_pastrun",),
    }

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return bool(request.user.has_perm("agents.add_pastrun"))

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        accounts = self._mailboxes(request)
        account = accounts.filter(pk=staff_key(request)).first() or accounts.first()
        form = StartForm(account, request.POST or None) if account else None
        if account and form and form.is_valid():
            wanted = form.wanted()
            if runs.find_mails(account.ref(), wanted):
                return self._start(request, account, wanted)
            form.add_error(None, NO_MAIL)
        context = self.admin_site.each_context(request) | {
            "title": "Run over past mail",
            "accounts": accounts[:200],
            "account": account,
            "form": form,
        }
        return TemplateResponse(request, "agents/past_run_form.html", context)

    def _mailboxes(self, request: HttpRequest) -> Any:
        rows = Account.objects.filter(source__in=writable("mail")).select_related("organisation")
        return staff.bind(rows, request.user, "organisation").order_by("external_user_id", "source")

    def _start(self, request: HttpRequest, account: Account, wanted: Wanted) -> HttpResponse:
        try:
            run_id = tasks.start_past_run(account.ref(), wanted, by=operator(request))
        except AlreadyOpen:
            messages.error(request, "This account has a run that is not over: stop it first.")
            opened = PastRun.objects.filter(account=account, state__in=runs.OPEN).first()
            if opened is None:  # it has ended meanwhile
                return redirect("admin:agents_pastrun_changelist")
            run_id = opened.pk
        return redirect("admin:agents_pastrun_change", run_id)

    def pause(self, request: HttpRequest, key: UUID) -> HttpResponse:
        return self._said(request, key, runs.pause(key, by=operator(request)))

    def resume(self, request: HttpRequest, key: UUID) -> HttpResponse:
        return self._said(request, key, tasks.resume_past_run(key, by=operator(request)))

    def stop(self, request: HttpRequest, key: UUID) -> HttpResponse:
        now = timezone.now()
        return self._said(request, key, runs.stop(key, by=operator(request), now=now))

    def again(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """For real, after a trial that somebody has looked at."""
        run = PastRun.objects.select_related("account__organisation").get(pk=key)
        if not run.is_trial or run.policy is not None:
            return redirect("admin:agents_pastrun_change", key)
        wanted = Wanted(
            last=run.last,
            since=run.since,
            until=run.until,
            folder=run.folder,
            folder_name=run.folder_name,
            is_trial=False,
            writes_drafts=run.writes_drafts,
        )
        if not runs.find_mails(run.account.ref(), wanted):
            messages.warning(request, NO_MAIL)
            return redirect("admin:agents_pastrun_change", key)
        return self._start(request, run.account, wanted)

    def _said(self, request: HttpRequest, key: UUID, heard: bool) -> HttpResponse:
        if not heard:
            messages.warning(request, "It had gone on meanwhile. Look at it as it is now.")
        return redirect("admin:agents_pastrun_change", key)

    @display(description="What")  # type: ignore[untyped-decorator]
    def how(self, run: PastRun) -> str:
        return "Only tried" if run.is_trial else "Worked through"

    @display(description="Mail")  # type: ignore[untyped-decorator]
    def mail(self, run: PastRun) -> str:
        parts = [
            f"the newest {run.last:,}",
            f"from {run.since:%Y-%m-%d}" if run.since else "",
            f"up to {run.until:%Y-%m-%d}" if run.until else "",
            f"in {run.folder_name or run.folder}" if run.folder else "",
        ]
        return " ".join(filter(None, parts))

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def state_label(self, run: PastRun) -> str:
        return run.get_state_display()

    def row_context(self, request: HttpRequest, row: PastRun) -> dict[str, Any]:
        progress, counted = figures.count_progress(row), figures.count(row)
        names = figures.name_places(row.account_id)
        may_change = self.may_press(request, "pause")
        goes_on = row.state in ("queued", "running")
        offered = {
            "pause": may_change and goes_on,
            "resume": may_change and row.state == "paused",
            "stop": may_change and row.state in runs.OPEN,
            "again": self.may_press(request, "again")
            and row.is_trial
            and row.state == "done"
            # Under rules that are not live it would do something else than was tried.
            and row.policy is None,
        }
        return {
            "run": row,
            "goes_on": goes_on,
            "sentence": WAITS.get(row.waits_for) or _waits(row) or STATES[row.state],
            "progress": progress,
            "left_out": _in_words(progress.skipped),
            "broken": _in_words(progress.failed),
            "figures": counted,
            "log": [_logged(one, names) for one in figures.list_log(row)],
            "pressed": {
                name: reverse(f"admin:agents_pastrun_{name}", args=[row.pk])
                for name, is_offered in offered.items()
                if is_offered
            },
        }


def staff_key(request: HttpRequest) -> UUID | None:
    """The account that the address names; None where it names none."""
    try:
        return UUID(request.GET.get("account", ""))
    except ValueError:
        return None


def _waits(run: PastRun) -> str:
    code = run.waits_for.replace("_", " ")
    return f"Something did not answer ({code}). It is tried again in a moment." if code else ""


def _in_words(counts: Any) -> str:
    said = (f"{number:,} {_why(reason)}" for reason, number in counts.items())
    return ", ".join(said)


def _why(reason: str) -> str:
    return LEFT_OUT.get(reason) or SENTENCES.get(reason, reason.replace("_", " "))


def _logged(mail: PastMail, names: Mapping[str, str]) -> dict[str, Any]:
    done = [figures.say(one, names) for one in (mail.turn.actions if mail.turn else ())]
    said = ", ".join(done) or "Nothing to do"
    return {
        "mail": figures.head(mail),
        "at": mail.finished_at,
        "said": said if mail.state == PastMail.State.DONE else _why(mail.reason).capitalize(),
        "failed": mail.state == PastMail.State.FAILED,
    }
