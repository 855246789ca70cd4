"""What servers answer in JSON, as values."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from integrations.exceptions import Malformed

M = TypeVar("M", bound=BaseModel)


def parse(model: type[M], data: Any) -> M:
    """Raises Malformed, with the fields alone."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        fields = {".".join(map(str, one["loc"])) for one in error.errors()}
        raise Malformed(f"{model.__name__}: {', '.join(sorted(fields))}") from error


def rows(data: Any) -> list[Any]:
    """Raises Malformed."""
    if not isinstance(data, list):
        raise Malformed("the answer is no list")
    return data
