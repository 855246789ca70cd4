"""Admin of who belongs to an organisation."""

from django.contrib import admin

from guardrails.models import OwnDomain, Person
from guardrails.policies.recorded_admin import RecordedAdmin


@admin.register(Person)
class PersonAdmin(RecordedAdmin):
    """The directory: names that users may type for these addresses."""

    list_display = ("name", "address", "other_names", "organisation", "source")
    list_display_links = ("name",)
    list_filter = ("organisation", "source")
    list_filter_submit = True
    list_select_related = ("organisation",)
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("name", "address")
    fields = ("organisation", "name", "other_names", "address", "source")
    readonly_fields = ("source",)


@admin.register(OwnDomain)
class OwnDomainAdmin(RecordedAdmin):
    """Anybody with an address at one of these counts as inside the organisation."""

    list_display = ("domain", "organisation")
    list_filter = ("organisation",)
    list_select_related = ("organisation",)
    search_fields = ("domain",)
    fields = ("organisation", "domain")
