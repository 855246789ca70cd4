"""The ledger's addresses as `config.urls` wires them."""

from django.contrib import admin
from django.urls import path

from audit import api
from integrations.authentication import HasScope

MAY_READ = [HasScope("audit:read")]

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/ledger", api.LedgerView.as_view(permission_classes=MAY_READ)),
    path("api/v1/ledger/export", api.LedgerExportView.as_view(permission_classes=MAY_READ)),
    path(
        "api/v1/ledger/<uuid:action_id>", api.LedgerActionView.as_view(permission_classes=MAY_READ)
    ),
    path("closed", api.LedgerView.as_view()),
]
