"""What came of trying the guarantees here, for those who run the installation."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display

from agents.models import InstallationCheck
from audit.ledger import timeline
from integrations.web.admin_pages import ReadOnlyAdmin, RowPage

# What does not hold comes first.
ORDER = ("FAIL", "PASS", "n/a")
COLOURS = {"sound": "success", "not sound": "danger"}


@admin.register(InstallationCheck)
class InstallationCheckAdmin(RowPage, ReadOnlyAdmin):
    empty = "Try all guarantees with: manage.py verify_installation. What it finds is shown here."
    organisation_path = None

    list_display = ("when", "state_label", "in_numbers")
    list_display_links = ("when",)
    fields = readonly_fields = ("when", "in_numbers")
    change_form_outer_before_template = "agents/installation_check.html"

    @display(description="When", ordering="began_at")  # type: ignore[untyped-decorator]
    def when(self, row: InstallationCheck) -> str:
        return timeline.moment(row.began_at)

    @display(description="This installation is", label=COLOURS)  # type: ignore[untyped-decorator]
    def state_label(self, row: InstallationCheck) -> str:
        return "not sound" if row.count("FAIL") else "sound"

    @display(description="Guarantees")  # type: ignore[untyped-decorator]
    def in_numbers(self, row: InstallationCheck) -> str:
        return (
            f"{row.count('PASS')} hold, {row.count('FAIL')} do not, "
            f"{row.count('n/a')} do not apply here"
        )

    def row_context(self, request: HttpRequest, row: InstallationCheck) -> dict[str, Any]:
        results = sorted(row.results, key=lambda one: ORDER.index(one["verdict"]))
        return {
            "check": row,
            "began": timeline.moment(row.began_at),
            "in_numbers": self.in_numbers(row),
            "results": [one | {"words": one["name"].replace("_", " ")} for one in results],
        }
