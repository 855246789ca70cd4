"""The addresses of logging in: those of django-allauth that staff needs, and no others. Nobody
signs up here, has an address confirmed, or gets a password by mail."""

from typing import NoReturn

from allauth.account import views
from django.http import Http404, HttpRequest
from django.urls import include, path

from agents.office import sign_in


def closed(request: HttpRequest) -> NoReturn:
    raise Http404("There is no such address.")


urlpatterns = [
    path(
        "login/",
        views.LoginView.as_view(extra_context={"sign_in": sign_in.offered}),
        name="account_login",
    ),
    path("oidc/", sign_in.begin, name="oidc_begin"),
    path("oidc/finish/", sign_in.finish, name="oidc_finish"),
    path("logout/", views.logout, name="account_logout"),
    path("password/change/", views.password_change, name="account_change_password"),
    path("password/set/", closed, name="account_set_password"),  # administrators set one
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("reauthenticate/", views.reauthenticate, name="account_reauthenticate"),
    path("signup/", closed, name="account_signup"),  # pages of log-in name it
    path("2fa/", include("allauth.mfa.urls")),
]
