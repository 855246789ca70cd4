"""What a page may load and run (Content-Security-Policy).

Nothing that stands in a page is run as code or as a style: scripts and styles are files of ours.
The one exception are the theme's colours, a style with a nonce. django-csp, because Django has
this itself from 6.0 on.
"""

from csp.constants import NONCE, NONE, SELF

POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    },
}
