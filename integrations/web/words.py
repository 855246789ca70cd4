"""Words that somebody typed, as a condition on rows."""

from django.db.models import Q


def named(words: str, *columns: str) -> Q:
    """Each of the words in one of the columns."""
    found = Q()
    for word in words.split():
        of_word = Q(pk__in=[])
        for one in columns:
            of_word |= Q(**{f"{one}__icontains": word})
        found &= of_word
    return found
