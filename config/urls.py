"""Every address of Remit, in one place."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, path

from agents import api as agents
from agents.tasks import queue_delivery
from config import health
from integrations.webhooks import Kind, WebhookView

KINDS: tuple[Kind, ...] = ("created", "updated", "deleted")


def webhooks(kind: Kind) -> list[URLPattern]:
    view = WebhookView.as_view(kind=kind, enqueue=queue_delivery)
    return [
        path(f"webhooks/item-{kind}", view, name=f"webhook-{kind}"),
        path(f"webhooks/<slug:slug>/item-{kind}", view, name=f"webhook-{kind}-of"),
    ]


urlpatterns: list[URLPattern | URLResolver] = [
    path("health", health.health, name="health"),
    path("ready", health.ready, name="ready"),
    *(pattern for kind in KINDS for pattern in webhooks(kind)),
    path("api/v1/status", agents.StatusView.as_view(), name="status"),
    path("api/v1/chat", agents.ChatView.as_view(), name="chat"),
    path("api/v1/chat/stream", agents.ChatStreamView.as_view(), name="chat-stream"),
    path("api/v1/turns/<uuid:turn_id>", agents.TurnView.as_view(), name="turn"),
    path("api/v1/conversations", agents.ConversationsView.as_view(), name="conversations"),
    path(
        "api/v1/conversations/<uuid:conversation_id>",
        agents.ConversationView.as_view(),
        name="conversation",
    ),
    path("admin/", admin.site.urls),
]

handler400 = "config.api_errors.bad_request"
handler404 = "config.api_errors.not_found"
handler500 = "config.api_errors.server_error"
