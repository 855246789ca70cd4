"""Every address of Remit, in one place."""

from typing import Any

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import IsAuthenticated

from agents.api import days, past, suggestions, views as agents
from agents.inbound.intake import accept_deliveries
from agents.office import card_link, console, day_page, devices_page, finder, first_page, setup_page
from agents.tasks import queue_look
from audit.api import views as audit
from audit.bundle.verify_page import verify_page
from audit.models import ExecutedAgentAction
from config import health, metrics
from config.rest import errors
from guardrails import api as guardrails
from integrations import api as integrations
from integrations.web.authentication import HasScope
from integrations.web.pushes import PushView
from integrations.web.stale import may_be_stale
from integrations.web.webhooks import Kind, WebhookView
from knowledge import api as knowledge

# The audit app does not know who callers are; it learns here who may read.
READS_LEDGER = [IsAuthenticated, HasScope("audit:read")]
# The schema says nothing that is secret, and a frontend's developers have no login yet.
OPEN: dict[str, Any] = {"authentication_classes": [], "permission_classes": []}
# One way in: with its limits and the second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
KINDS: tuple[Kind, ...] = ("created", "updated", "deleted")


def webhooks(kind: Kind) -> list[URLPattern]:
    view = WebhookView.as_view(kind=kind, store=accept_deliveries)
    return [
        path(f"webhooks/item-{kind}", view, name=f"webhook-{kind}"),
        path(f"webhooks/<slug:slug>/item-{kind}", view, name=f"webhook-{kind}-of"),
    ]


urlpatterns: list[URLPattern | URLResolver] = [
    path("health", health.health, name="health"),
    path("ready", health.ready, name="ready"),
    path("metrics", metrics.metrics, name="metrics"),
    # Beside the two above, as the seed has it; described where the API is.
    path("status", agents.StatusView.as_view(schema=None)),
    *(pattern for kind in KINDS for pattern in webhooks(kind)),
    path(
        "webhooks/accounts/<uuid:account_id>",
        PushView.as_view(enqueue=queue_look),
        name="push",
    ),
    path("api/v1/status", agents.StatusView.as_view(), name="status"),
    path("api/v1/chat", agents.ChatView.as_view(), name="chat"),
    path("api/v1/tasks", agents.TasksView.as_view(), name="tasks"),
    path("api/v1/chat/stream", agents.ChatStreamView.as_view(), name="chat-stream"),
    path("api/v1/turns/<uuid:turn_id>/stop", agents.StopView.as_view(), name="turn-stop"),
    path("api/v1/turns/<uuid:turn_id>/stream", agents.TurnStreamView.as_view(), name="turn-stream"),
    path("api/v1/turns/<uuid:turn_id>", agents.TurnView.as_view(), name="turn"),
    path("api/v1/conversations", agents.ConversationsView.as_view(), name="conversations"),
    path(
        "api/v1/conversations/<uuid:conversation_id>",
        agents.ConversationView.as_view(),
        name="conversation",
    ),
    path("api/v1/accounts", integrations.AccountsView.as_view(), name="accounts"),
    path("api/v1/accounts/try", integrations.TrialView.as_view(), name="account-try"),
    path("api/v1/accounts/consents", integrations.ConsentsView.as_view(), name="consents"),
    path(
        "api/v1/accounts/consents/finish",
        integrations.FinishView.as_view(),
        name="consent-finish",
    ),
    path("api/v1/accounts/<uuid:account_id>", integrations.AccountView.as_view(), name="account"),
    path(
        "api/v1/accounts/<uuid:account_id>/disconnect",
        integrations.DisconnectView.as_view(),
        name="account-disconnect",
    ),
    path("api/v1/preferences", integrations.PreferencesView.as_view(), name="preferences"),
    path("api/v1/usage", integrations.UsageView.as_view(), name="usage"),
    path("api/v1/questions", guardrails.QuestionsView.as_view(), name="questions"),
    path(
        "api/v1/questions/<uuid:question_id>/decide",
        guardrails.DecideQuestionView.as_view(),
        name="question-decide",
    ),
    path("api/v1/approvals", guardrails.ApprovalsView.as_view(), name="approvals"),
    path(
        "api/v1/approvals/<uuid:approval_id>/decide",
        guardrails.DecideView.as_view(),
        name="approval-decide",
    ),
    path(
        "api/v1/approvals/<uuid:approval_id>/edit",
        guardrails.EditView.as_view(),
        name="approval-edit",
    ),
    path(
        "api/v1/approvals/<uuid:approval_id>/delegate",
        guardrails.DelegateView.as_view(),
        name="approval-delegate",
    ),
    path(
        "api/v1/approvals/<uuid:approval_id>/escalate",
        guardrails.EscalateView.as_view(),
        name="approval-escalate",
    ),
    path("api/v1/approvals/decide", guardrails.DecideAllView.as_view(), name="approvals-decide"),
    path("api/v1/actions/<uuid:action_id>/undo", guardrails.UndoView.as_view(), name="action-undo"),
    path("api/v1/suggestions", suggestions.SuggestionsView.as_view(), name="suggestions"),
    path(
        "api/v1/suggestions/<uuid:suggestion_id>/take-up",
        suggestions.TakeUpView.as_view(),
        name="suggestion-take-up",
    ),
    path(
        "api/v1/suggestions/<uuid:suggestion_id>/dismiss",
        suggestions.DismissView.as_view(),
        name="suggestion-dismiss",
    ),
    path(
        "api/v1/change-requests",
        guardrails.ChangeRequestsView.as_view(),
        name="change-requests",
    ),
    path("api/v1/held-sends", guardrails.HeldSendsView.as_view(), name="held-sends"),
    path(
        "api/v1/held-sends/<uuid:held_send_id>/recall",
        guardrails.RecallView.as_view(),
        name="held-send-recall",
    ),
    path("api/v1/policy", guardrails.PolicyView.as_view(), name="policy"),
    path("api/v1/policy/effective", guardrails.EffectiveView.as_view(), name="policy-effective"),
    path("api/v1/policy/replay", guardrails.ReplayView.as_view(), name="policy-replay"),
    path("api/v1/policy/simulate", guardrails.SimulateView.as_view(), name="policy-simulate"),
    path("api/v1/patterns", guardrails.PatternsView.as_view(), name="patterns"),
    path(
        "api/v1/patterns/<uuid:pattern_id>/decide",
        guardrails.DecidePatternView.as_view(),
        name="pattern-decide",
    ),
    path("api/v1/skills", guardrails.SkillsView.as_view(), name="skills"),
    path(
        "api/v1/skills/<uuid:skill_id>/decide",
        guardrails.DecideSkillView.as_view(),
        name="skill-decide",
    ),
    path("api/v1/drafts", guardrails.DraftsView.as_view(), name="drafts"),
    path("api/v1/deliveries", integrations.DeliveriesView.as_view(), name="deliveries"),
    path("api/v1/days", days.DayView.as_view(), name="day-of-user"),
    path("api/v1/past-runs", past.PastRunsView.as_view(), name="past-runs"),
    path("api/v1/past-runs/try", past.PastTrialView.as_view(), name="past-run-try"),
    path("api/v1/past-runs/<uuid:past_run_id>", past.PastRunView.as_view(), name="past-run"),
    path(
        "api/v1/past-runs/<uuid:past_run_id>/pause",
        past.PausePastRunView.as_view(),
        name="past-run-pause",
    ),
    path(
        "api/v1/past-runs/<uuid:past_run_id>/resume",
        past.ResumePastRunView.as_view(),
        name="past-run-resume",
    ),
    path(
        "api/v1/past-runs/<uuid:past_run_id>/stop",
        past.StopPastRunView.as_view(),
        name="past-run-stop",
    ),
    path("api/v1/search", knowledge.SearchView.as_view(), name="search"),
    path("api/v1/sync", knowledge.SyncsView.as_view(), name="syncs"),
    path("api/v1/sync/<uuid:sync_id>", knowledge.SyncView.as_view(), name="sync"),
    path(
        "api/v1/sync/<uuid:sync_id>/cancel",
        knowledge.CancelSyncView.as_view(),
        name="sync-cancel",
    ),
    path(
        "api/v1/ledger",
        audit.LedgerView.as_view(permission_classes=READS_LEDGER),
        name="ledger",
    ),
    path(
        "api/v1/ledger/export",
        audit.LedgerExportView.as_view(permission_classes=READS_LEDGER),
        name="ledger-export",
    ),
    path(
        "api/v1/ledger/bundle",
        audit.LedgerBundleView.as_view(permission_classes=READS_LEDGER),
        name="ledger-bundle",
    ),
    path(
        "api/v1/ledger/feed",
        audit.LedgerFeedView.as_view(permission_classes=READS_LEDGER),
        name="ledger-feed",
    ),
    path(
        "api/v1/ledger/<uuid:action_id>",
        audit.LedgerActionView.as_view(permission_classes=READS_LEDGER),
        name="ledger-action",
    ),
    path("ledger/verify", verify_page, name="ledger-verify"),
    path("api/schema", SpectacularAPIView.as_view(**OPEN), name="schema"),
    path("api/problems", errors.problems, name="problems"),
    path("api/docs", SpectacularSwaggerSplitView.as_view(url_name="schema", **OPEN), name="docs"),
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("accounts/", include("config.pages.log_in_urls")),
    path("admin/setup/", admin.site.admin_view(setup_page.view), name="setup"),
    path("admin/day/", admin.site.admin_view(may_be_stale(day_page.view)), name="day"),
    path("admin/find/", admin.site.admin_view(may_be_stale(finder.view)), name="find"),
    path("admin/cards/<uuid:approval_id>/", admin.site.admin_view(card_link.view), name="card"),
    path("admin/devices/on/", admin.site.admin_view(devices_page.switch_on), name="device-on"),
    path("admin/devices/off/", admin.site.admin_view(devices_page.switch_off), name="device-off"),
    path(
        "admin/password_change/",
        RedirectView.as_view(pattern_name="account_change_password"),
    ),
    path("admin/", admin.site.admin_view(may_be_stale(first_page.view))),
    # The audit app does not know of replicas either.
    path(
        "admin/audit/executedagentaction/",
        admin.site.admin_view(
            may_be_stale(admin.site.get_model_admin(ExecutedAgentAction).changelist_view)
        ),
    ),
    path("admin/", admin.site.urls),
    path("console/", include(console.urlpatterns)),
]

handler400 = "config.rest.errors.bad_request"
handler403 = "config.rest.errors.not_permitted"
handler404 = "config.rest.errors.not_found"
handler500 = "config.rest.errors.server_error"
