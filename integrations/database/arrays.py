"""Arrays as PostgreSQL writes them."""

from collections.abc import Iterable


def write_array(values: Iterable[object]) -> str:
    """These values as the text of an array; None is NULL. The statement says of what it is one.

    psycopg would do so in Python and go by the type of each value, which took a fifth of the time
    that a search in a small account has in Python.
    """
    return f"{{{','.join(map(_element, values))}}}"


def _element(value: object) -> str:
    if value is None:
        return "NULL"
    text = str(value)
    if "\\" in text or '"' in text:
        text = text.replace("\\", r"\\").replace('"', r"\"")
    return f'"{text}"'
