"""Pages that show and change nothing."""

from typing import Any

from django.http import HttpRequest


class ViewOnly:
    """No adding, changing or deleting, for anybody."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
