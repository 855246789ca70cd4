"""Admin of conversations and their messages, which only shows."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display

from agents.admin.subjects import preformatted
from agents.models import Conversation, Message
from agents.office import turn_page
from audit.ledger import timeline
from integrations.web.admin_lists import NewestFirst
from integrations.web.admin_pages import ReadOnlyAdmin, RowPage

NEWEST = 200


@admin.register(Conversation)
class ConversationAdmin(RowPage, NewestFirst, ReadOnlyAdmin):
    empty = "Conversations of users with the agent come here. Begin one in the chat console."
    newest_by = "updated_at"
    list_display = ("title", "external_user_id", "organisation", "created_at", "updated_at")
    list_filter = ("organisation",)
    list_select_related = ("organisation",)
    search_fields = ("external_user_id", "id")
    search_help_text = "The whole id of the user or the conversation"
    fields = ("organisation", "external_user_id", "title", "created_at", "updated_at")
    change_form_outer_after_template = "agents/conversation.html"

    def row_context(self, request: HttpRequest, row: Conversation) -> dict[str, Any]:
        return {"said": turn_page.said(row, newest=NEWEST)}


@admin.register(Message)
class MessageAdmin(NewestFirst, ReadOnlyAdmin):
    empty = "Messages of conversations come here."
    organisation_path = "conversation__organisation"
    newest_by = "created_at"
    list_display = ("created_at", "role", "beginning", "conversation")
    list_filter = ("role",)
    list_select_related = ("conversation",)
    search_fields = ("id", "conversation", "turn")
    search_help_text = "The whole id of the message, its conversation or its turn"
    fields = ("created_at", "role", "conversation", "turn", "text")

    @display(description="Text")  # type: ignore[untyped-decorator]
    def beginning(self, message: Message) -> str:
        return timeline.reveal(message.content[:80])

    @display(description="Text")  # type: ignore[untyped-decorator]
    def text(self, message: Message) -> SafeString:
        return preformatted(timeline.reveal(message.content))
