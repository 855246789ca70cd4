"""The page that verifies a bundle in the browser. It has no data and needs no login, so
that an auditor can use it; and the browser itself forbids it to send anything anywhere."""

from csp.constants import NONE, SELF
from csp.decorators import csp_replace
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

SILENT = {
    "connect-src": [NONE],
    "form-action": [NONE],
    "img-src": [SELF],
    "script-src": [SELF],
    "style-src": [SELF],
}


@require_safe
@csp_replace(SILENT)
def verify_page(request: HttpRequest) -> HttpResponse:
    return render(request, "audit/verify.html")
