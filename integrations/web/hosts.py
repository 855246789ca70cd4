"""Whether a name is one of this server's, for who stands before Django."""

from django.conf import settings
from django.http.request import split_domain_port, validate_host


def is_ours(host: str) -> bool:
    """`host` as a header has it, with or without a port."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)
