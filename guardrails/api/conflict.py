"""The answer to a person's word that came too late, or after another one."""

from rest_framework import exceptions, status


class Conflict(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"
    default_detail = "This was decided differently."
