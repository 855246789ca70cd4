"""The base of every request body of the API."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields it does not know, so that a typo never silently changes a request."""

    @classmethod
    def read(cls, data: Any) -> dict[str, Any]:
        """The values of a request. Raises ValidationError."""
        given = cls(data=data)
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = sorted(set(map(str, data)) - set(self.fields))
            if unknown:
                raise serializers.ValidationError(
                    {name: ["This field is unknown."] for name in unknown}
                )
        return super().to_internal_value(data)


class StrictCharField(serializers.CharField):
    """Text only: a number or a boolean is a mistake of the caller, not a string."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if "\x00" in data:
            raise serializers.ValidationError("NUL characters are not allowed.")
        try:
            data.encode()
        except UnicodeEncodeError as error:
            raise serializers.ValidationError("The text is not valid Unicode.") from error
        return str(super().to_internal_value(data))
