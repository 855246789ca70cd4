"""Admin of who belongs to an organisation."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from guardrails.admin.policies.directory_page import directory_page
from guardrails.models import DirectorySync, OwnDomain, Person
from guardrails.policies.recorded_admin import RecordedAdmin


@admin.register(Person)
class PersonAdmin(RecordedAdmin):
    """The directory: names that users may type for these addresses."""

    empty = (
        "The directory says who belongs to the organisation and which names mean them. "
        "Import it, or set up a directory sync."
    )

    list_before_template = "guardrails/directory_link.html"
    list_display = ("name", "address", "other_names", "is_group", "organisation", "source")
    list_display_links = ("name",)
    list_filter = ("organisation", "source", "is_group")
    list_filter_submit = True
    list_select_related = ("organisation",)
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("name", "address")
    fields = ("organisation", "name", "other_names", "address", "is_group", "source")
    readonly_fields = ("source",)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.import_directory)
        return [path("import/", view, name="guardrails_person_import"), *super().get_urls()]

    def import_directory(self, request: HttpRequest, **given: Any) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return directory_page(request, self.admin_site.each_context(request))


@admin.register(DirectorySync)
class DirectorySyncAdmin(RecordedAdmin):
    """Read once a day from the provider, and what went wrong the last time."""

    empty = (
        "A directory sync reads the people of an organisation once a day, from the provider of "
        "one of its mailboxes."
    )

    list_display = ("organisation", "account", "enabled", "tried_at", "done_at", "problem")
    list_filter = ("organisation", "enabled")
    list_select_related = ("organisation", "account")
    fields = ("organisation", "account", "enabled", "tried_at", "done_at", "problem")
    readonly_fields = ("tried_at", "done_at", "problem")


@admin.register(OwnDomain)
class OwnDomainAdmin(RecordedAdmin):
    """Anybody with an address at one of these counts as inside the organisation."""

    empty = (
        "Mail addresses of these domains belong to the organisation. Add its own domain "
        "first: presets trust colleagues by it."
    )

    list_display = ("domain", "organisation")
    list_filter = ("organisation",)
    list_select_related = ("organisation",)
    search_fields = ("domain",)
    fields = ("organisation", "domain")
