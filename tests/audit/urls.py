"""All addresses of Remit, the ledger's among them, and one that nobody was let into."""

from django.urls import path

from audit.api import views as api
from config import urls
from integrations.web.authentication import HasScope

MAY_READ = [HasScope("audit:read")]

urlpatterns = [
    path("api/v1/ledger", api.LedgerView.as_view(permission_classes=MAY_READ)),
    path("api/v1/ledger/bundle", api.LedgerBundleView.as_view(permission_classes=MAY_READ)),
    path("api/v1/ledger/export", api.LedgerExportView.as_view(permission_classes=MAY_READ)),
    path(
        "api/v1/ledger/<uuid:action_id>", api.LedgerActionView.as_view(permission_classes=MAY_READ)
    ),
    path("closed", api.LedgerView.as_view()),
    *urls.urlpatterns,
]
