"""How the admin looks: settings of django-unfold."""

from django.templatetags.static import static
from django.urls import reverse_lazy

UNFOLD = {
    "SITE_TITLE": "Remit",
    "SITE_HEADER": "Remit",
    "SITE_SYMBOL": "verified_user",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda _: static("remit/icon.svg")}
    ],
    "STYLES": [lambda _: static("remit/admin.css")],
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "DASHBOARD_CALLBACK": "agents.activity.page.context",
    "ACCOUNT": {"navigation": [{"title": "You", "link": reverse_lazy("console-you")}]},
    "SIDEBAR": {"show_search": True, "navigation": "agents.office.sidebar.navigation"},
}
