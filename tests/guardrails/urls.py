"""All addresses of Remit, those of approvals and policy among them."""

from django.urls import path

from config import urls
from guardrails import api

urlpatterns = [
    path("api/v1/approvals", api.ApprovalsView.as_view()),
    path("api/v1/approvals/<uuid:approval_id>/decide", api.DecideView.as_view()),
    path("api/v1/policy", api.PolicyView.as_view()),
    *urls.urlpatterns,
]
