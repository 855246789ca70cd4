"""Admin of the people who use it, and of the task queue: Django's own pages in the theme."""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin, UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django_q.models import Failure, OrmQ, Schedule, Success
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from integrations.models import Membership, SignInIdentity
from integrations.web.admin_pages import ReadOnlyAdmin
from integrations.web.bound_admin import BoundAdmin, RowsInline
from integrations.web.staff import is_bound

for model in (User, Group, Failure, OrmQ, Schedule, Success, Authenticator, EmailAddress):
    admin.site.unregister(model)


class MembershipInline(RowsInline):
    model = Membership
    extra = 0
    verbose_name_plural = "organisations that they meet, unless they are superusers"


class SignInIdentityInline(RowsInline):
    model = SignInIdentity
    extra = 0
    fields = ("issuer", "subject", "by_mail", "created_at", "last_used_at")
    readonly_fields = ("by_mail", "created_at", "last_used_at")
    verbose_name_plural = "who they are at the provider that they log in at"


@admin.register(User)
class UserAdmin(BaseUserAdmin, BoundAdmin):  # type: ignore[misc,type-arg]
    """Superusers alone: who may change users may give themselves every right."""

    empty = "People who may log in here."

    organisation_path = None
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    inlines = (MembershipInline, SignInIdentityInline)
    filter_horizontal = ()  # two lists side by side are wider than the page


@admin.register(Group)
class GroupAdmin(BaseGroupAdmin, BoundAdmin):  # type: ignore[misc]
    empty = "A group gives its users the rights of a role."
    organisation_path = None
    filter_horizontal = ()


@admin.register(Success, Failure)
class TaskAdmin(ReadOnlyAdmin):
    empty = "A task that failed comes here with its error. None did."
    organisation_path = None
    list_display = ("func", "started", "stopped", "attempt_count")
    ordering = ("-stopped",)
    search_fields = ("id",)
    search_help_text = "The whole task id"
    fields = ("id", "func", "arguments", "started", "stopped", "attempt_count", "outcome")

    @display(description="Arguments")  # type: ignore[untyped-decorator]
    def arguments(self, task: Success | Failure) -> str:
        return repr(task.args)

    @display(description="Result")  # type: ignore[untyped-decorator]
    def outcome(self, task: Success | Failure) -> str:
        return str(task.result)


@admin.register(Schedule)
class ScheduleAdmin(ReadOnlyAdmin):
    """Read-only: a schedule names any function of Python, and Remit's code makes its own."""

    empty = "What runs by the clock comes here once the task cluster has started."

    organisation_path = None

    list_display = ("name", "func", "schedule_type", "minutes", "next_run")
    fields = ("name", "func", "args", "kwargs", "schedule_type", "minutes", "repeats", "next_run")


@admin.register(OrmQ)
class QueueAdmin(ReadOnlyAdmin):
    empty = "Work that waits for the task cluster comes here. Nothing waits."
    organisation_path = None
    list_display = ("id", "work", "arguments", "lock")
    ordering = ("id",)
    fields = ("id", "work", "arguments", "lock")

    @display(description="Task")  # type: ignore[untyped-decorator]
    def work(self, row: OrmQ) -> str:
        return str(row.func())

    @display(description="Arguments")  # type: ignore[untyped-decorator]
    def arguments(self, row: OrmQ) -> str:
        return repr(row.args())


@admin.register(Authenticator)
class AuthenticatorAdmin(ReadOnlyAdmin):
    """Second factors. Who has lost theirs has it deleted here; what it holds is not shown."""

    empty = "Second factors of people who log in come here once somebody sets one up."

    organisation_path = None
    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    list_select_related = ("user",)
    search_fields = ("user__username",)
    search_help_text = "The whole name of the user"
    fields = ("user", "type", "created_at", "last_used_at")

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return not is_bound(request.user)
