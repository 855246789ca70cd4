"""What is wrong with a server's certificate, and who can mend it. Pure."""

import ssl

# Of OpenSSL (X509_V_ERR_…).
EXPIRED, OTHER_NAMES, UNTRUSTED = (10,), (62, 64), (18, 19, 20, 21)


def find(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    """The refusal of a certificate behind an error, if that is why."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error


def explain(
    host: str,
    error: ssl.SSLCertVerificationError,
    *,
    nothing: str = "Nothing was sent to it, the password neither.",
) -> str:
    """In words for who named the server. `nothing` is the sentence that says what was held back."""
    if error.verify_code in EXPIRED:
        return f"The certificate of {host} has expired. {nothing} Who runs it has to renew it."
    if error.verify_code in OTHER_NAMES:
        return (
            f"The certificate of {host} is for another name. {nothing} Name the server as its "
            "provider does."
        )
    if error.verify_code in UNTRUSTED:
        return (
            f"The certificate of {host} comes from nobody whom this machine trusts. {nothing} Who "
            "runs Remit can add the authority (SSL_CERT_FILE)."
        )
    return f"The certificate of {host} does not hold: {error.verify_message}. {nothing}"
