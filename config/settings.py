"""Every setting of Remit, read from the environment (or from `<state dir>/secrets.env`).

README lists the variables that most deployments set. Secrets have no default outside tests:
a missing one stops the process with a sentence that names it. Which process needs which says
`config.local.secrets.NEEDS`.
"""

import logging
import os
import sys
import warnings
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config.local import databases, embedded, secrets as local_secrets
from config.local.children import TOKEN
from config.local.variables import Networks, Variables
from config.pages import content_policy, single_sign_on, theme
from config.rest import schema

BASE_DIR = Path(__file__).resolve().parent.parent
STATE_DIR = Path(os.environ.get("REMIT_STATE_DIR") or BASE_DIR / ".remit")

env = Variables()
SECRETS_FILE = STATE_DIR / "secrets.env"
# What `make run` starts was given its own secrets; a command by hand reads them all.
if TOKEN not in os.environ and SECRETS_FILE.exists():
    env.read_env(SECRETS_FILE)

# mypy reads the settings too, for the types of models.
TESTING = "pytest" in sys.modules or "mypy" in sys.modules
DEBUG = env.bool("DEBUG", default=False)

# Which kind of process this is decides which secrets it may have and how it holds database
# connections: `web` and `turns` use a pool; a pool does not survive the forks of the task cluster
# (measured).
PROCESS = env.choice("REMIT_PROCESS", "command", local_secrets.NEEDS | {"command": ""})


def secret(name: str) -> str:
    """The secret `name` from the environment; "" for a process that has no need of it. Only
    tests may run without one that is needed."""
    if name not in local_secrets.NEEDS.get(PROCESS, local_secrets.ALL):
        return ""
    value = env.str(name, default="")
    if not value and TESTING:
        return f"test-only-{name.lower()}-0123456789abcdef0123456789abcdef0123456789"
    if not value:
        raise ImproperlyConfigured(
            f"Set {name} in the environment. `make run` makes one for this machine "
            f"and keeps it in {SECRETS_FILE.name} in the state folder."
        )
    return str(value)


SECRET_KEY = secret("SECRET_KEY")
# Keys the digests of provider ids in the ledger. It never changes: old rows need it.
LEDGER_KEY = secret("LEDGER_KEY")
# Wraps the keys that payloads are encrypted with; LEDGER_KEY does where it is not set. It has
# a setting of its own because it can be changed, and LEDGER_KEY cannot.
LEDGER_VAULT_KEY = env.str("LEDGER_VAULT_KEY", default="")
# The one before, while data keys are wrapped anew (`manage.py rewrap_data_keys`).
LEDGER_VAULT_KEY_BEFORE = env.str("LEDGER_VAULT_KEY_BEFORE", default="")
# Months of the ledger that are kept beside the present one; 0 keeps all. Older ones leave
# when two people say so (`manage.py drop_ledger_months`).
LEDGER_KEEP_MONTHS = env.int("LEDGER_KEEP_MONTHS", default=0)
# Secrets of people's accounts are sealed to the public key; only processes that call providers have
# the private one, wherever it came from. `manage.py make_credential_keys` makes a pair.
_OPENING = ("CREDENTIALS_PRIVATE_KEY", "CREDENTIALS_PRIVATE_KEY_BEFORE", "VAPID_PRIVATE_KEY")
for name in _OPENING:
    if name not in local_secrets.NEEDS.get(PROCESS, local_secrets.ALL):
        os.environ.pop(name, None)
CREDENTIALS_PUBLIC_KEY = env.str("CREDENTIALS_PUBLIC_KEY", default="")
CREDENTIALS_PRIVATE_KEY = env.str("CREDENTIALS_PRIVATE_KEY", default="")
# The one before, while secrets are sealed anew (`manage.py reseal_credentials`).
CREDENTIALS_PRIVATE_KEY_BEFORE = env.str("CREDENTIALS_PRIVATE_KEY_BEFORE", default="")
if problem := local_secrets.find_wrong_pair(
    CREDENTIALS_PUBLIC_KEY, CREDENTIALS_PRIVATE_KEY, opens=PROCESS in ("cluster", "turns")
):
    raise ImproperlyConfigured(problem)
# Web Push: browsers get the public key, and the cluster signs with the private one. Without them no
# page offers notifications. `manage.py make_push_keys` makes a pair.
VAPID_PUBLIC_KEY = env.str("VAPID_PUBLIC_KEY", default="")
VAPID_PRIVATE_KEY = env.str("VAPID_PRIVATE_KEY", default="")
if problem := local_secrets.find_wrong_push_pair(
    VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY, sends=PROCESS == "cluster"
):
    raise ImproperlyConfigured(problem)
# What providers call this installation where their users sign in at a page of theirs.
OAUTH_CLIENTS = {
    "google": (
        env.str("GOOGLE_CLIENT_ID", default=""),
        env.str("GOOGLE_CLIENT_SECRET", default=""),
    ),
    "microsoft": (
        env.str("MICROSOFT_CLIENT_ID", default=""),
        env.str("MICROSOFT_CLIENT_SECRET", default=""),
    ),
}
# Signs the ledger's checkpoints. No process but those that sign keeps it, wherever it came from;
# `manage.py seal_ledger` says when it is missing.
if PROCESS != "sealer" and sys.argv[1:2] not in (["seal_ledger"], ["rotate_signing_key"]):
    os.environ.pop("LEDGER_SIGNING_KEY", None)
LEDGER_SIGNING_KEY = env.str("LEDGER_SIGNING_KEY", default="")
# Names this ledger in its checkpoints, an address without https://. It never changes.
LEDGER_ORIGIN = env.str("LEDGER_ORIGIN", default="remit.example/ledger")
# How long rows of an organisation may wait to be sealed before nothing more is done for it that
# cannot be taken back.
LEDGER_STOP_MINUTES = env.int("LEDGER_STOP_MINUTES", default=15)
# The local names are enough for `make run`; a real deployment names its hosts.
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "django_q",
    "audit",
    "integrations",
    "knowledge",
    "guardrails",
    "agents",
]

MIDDLEWARE = [
    "config.health.answer_probes",
    "django.middleware.security.SecurityMiddleware",
    "config.pages.static_files.StaticFilesMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "config.pages.speaking.SpeakingMiddleware",
    "integrations.web.stale.PinMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "integrations.web.sessions.UseMiddleware",
    "integrations.web.second_factor.SecondFactorMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "guardrails.admin.stopped_notice.notice",
            ],
            "libraries": {"behind": "agents.office.behind"},
        },
    },
]

# --- Databases -------------------------------------------------------------------------
# DATABASE_URL wins; without it the embedded PostgreSQL of the state folder is used.
DATABASE_URL = env.address("DATABASE_URL", "postgres", "postgresql") or embedded.url(STATE_DIR)
# The database itself, where DATABASE_URL is a pooler in front of it that hands connections out by
# the transaction: who waits for a notice needs a session.
DATABASE_DIRECT_URL = env.address("DATABASE_DIRECT_URL", "postgres", "postgresql")
DATABASES = databases.configure(env, PROCESS, DATABASE_URL, pooler=bool(DATABASE_DIRECT_URL))
DATABASE_ROUTERS = databases.ROUTERS
REPLICA_LAG_SECONDS = env.int("DATABASE_REPLICA_LAG", default=5)  # how old a page is at most
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Wrong log-ins and codes that were used are counted for all processes at once, in the database.
# What can be found out again stands in a quick cache; one that does not answer is not waited for.
CACHE_SECONDS = 1.0
_BACKENDS = "django.core.cache.backends"
_SHARED = {"BACKEND": f"{_BACKENDS}.db.DatabaseCache", "LOCATION": "integrations_sharedentry"}
_QUICK = {"BACKEND": f"{_BACKENDS}.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 2_000}}
if env.address("REDIS_URL", "redis", "rediss", "unix"):
    seconds = {"socket_connect_timeout": CACHE_SECONDS, "socket_timeout": CACHE_SECONDS}
    _QUICK = env.cache_url("REDIS_URL") | {"OPTIONS": seconds}
CACHES = {"default": _SHARED | {"OPTIONS": {"MAX_ENTRIES": 20_000}}, "quick": _QUICK}

# --- Outside services ------------------------------------------------------------------
# One data service an organisation, by slug: DATA_SERVICES="default=http://…/v1/data".
SANDBOX_PORT = env.int("SANDBOX_PORT", default=8010)
MODEL_PORT = env.int("MODEL_PORT", default=8020)
DATA_SERVICES: dict[str, str] = env.addresses(
    "DATA_SERVICES", default={"default": f"http://127.0.0.1:{SANDBOX_PORT}/v1/data"}
)
DATA_SERVICE_KEYS: dict[str, str] = env.dict("DATA_SERVICE_KEYS", default={})
WEBHOOK_SECRETS: dict[str, str] = env.dict("WEBHOOK_SECRETS", default={})
if wrong := local_secrets.find_unreadable(WEBHOOK_SECRETS):
    raise ImproperlyConfigured(
        f"WEBHOOK_SECRETS of {', '.join(wrong)} must be “whsec_” and base64, as Standard Webhooks "
        "has it. Make one with: echo whsec_$(openssl rand -base64 24)"
    )
# How long one read of an answer may take, and how long a whole answer.
DATA_SERVICE_TIMEOUT_SECONDS = env.float("DATA_SERVICE_TIMEOUT_SECONDS", default=10.0)
DATA_SERVICE_ANSWER_SECONDS = env.float("DATA_SERVICE_ANSWER_SECONDS", default=60.0)
DATA_SERVICE_ATTEMPTS = env.int("DATA_SERVICE_ATTEMPTS", default=4)
# Requests a second to each data service, of all processes together, and how many at once.
DATA_SERVICE_RATE = env.float("DATA_SERVICE_RATE", default=100.0)
DATA_SERVICE_BURST = env.float("DATA_SERVICE_BURST", default=200.0)

# A sync: about how many items of one account models are asked side by side (a quarter more are
# worked on, and each holds a database connection), how long a silent worker keeps it, how often
# changes are asked for (0: never).
SYNC_SIDE_BY_SIDE = env.int("SYNC_SIDE_BY_SIDE", default=16)
SYNC_LEASE_SECONDS = env.float("SYNC_LEASE_SECONDS", default=60.0)
SYNC_EVERY_MINUTES = env.int("SYNC_EVERY_MINUTES", default=15)
# How often a mailbox of somebody's own is asked for what is new, and in how many of them one
# process listens for changes, with a connection each (0: in none).
MAILBOX_CHECK_SECONDS = env.float("MAILBOX_CHECK_SECONDS", default=60.0)
WATCHED_MAILBOXES = env.int("WATCHED_MAILBOXES", default=300)
# For how long mail servers that can (JMAP) are to hold sent mail back, so that it can be recalled.
JMAP_RECALL_SECONDS = env.int("JMAP_RECALL_SECONDS", default=0)
# Who gets a message when a sync is finished, by organisation: default=https://…, default=whsec_…
SYNC_CALLBACKS: dict[str, str] = env.addresses("SYNC_CALLBACKS", default={})
SYNC_CALLBACK_SECRETS: dict[str, str] = env.dict("SYNC_CALLBACK_SECRETS", default={})

# By organisation (default=desk@…), who learns by mail that a conversation waits for a person, and
# who gets the card of an action that does; where its link leads: https://remit.company.com.
ESCALATION_MAIL: dict[str, str] = env.dict("ESCALATION_MAIL", default={})
APPROVAL_MAIL: dict[str, str] = env.dict("APPROVAL_MAIL", default={})
PUBLIC_URL = env.address("PUBLIC_URL", "http", "https")

# Spans of agents, models and tools for OpenTelemetry (the extra `telemetry`). Where they go is said
# by OTEL_EXPORTER_OTLP_ENDPOINT; what was asked and answered is in them with the second alone.
TELEMETRY = env.bool("TELEMETRY", default=False)
TELEMETRY_CONTENT = env.bool("TELEMETRY_CONTENT", default=False)
if TELEMETRY and not (find_spec("opentelemetry") and find_spec("opentelemetry.sdk")):
    raise ImproperlyConfigured("TELEMETRY needs the extra: pip install 'remit[telemetry]'.")

MODEL_CALL_DAYS = env.int("MODEL_CALL_DAYS", default=400)  # 0: for ever. Budgets need one
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")  # who shows it may read /metrics

# Without a key or a base URL of a real model the offline model answers. What asks no model has no
# key, so it gets the answer instead.
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
OPENAI_BASE_URL = env.address("OPENAI_BASE_URL", "http", "https")
MODEL_IS_OFFLINE = env.bool("MODEL_IS_OFFLINE", default=not (OPENAI_API_KEY or OPENAI_BASE_URL))
if MODEL_IS_OFFLINE:
    OPENAI_API_KEY, OPENAI_BASE_URL = "offline", f"http://127.0.0.1:{MODEL_PORT}/v1"
CHAT_MODEL = env.str("CHAT_MODEL", default="offline-rules" if MODEL_IS_OFFLINE else "gpt-4o")
# Models of specialists that have one of their own: “email=gpt-4o-mini,task=gpt-4o”.
AGENT_MODELS: dict[str, str] = env.dict("AGENT_MODELS", default={})
INGEST_MODEL = env.str(
    "INGEST_MODEL", default="offline-rules" if MODEL_IS_OFFLINE else "gpt-4o-mini"
)
EMBEDDING_MODEL = env.str(
    "EMBEDDING_MODEL",
    default="offline-hash-384" if MODEL_IS_OFFLINE else "text-embedding-3-small",
)
# How many numbers a vector has. After a change: `manage.py resize_vectors`.
EMBEDDING_DIMENSIONS = env.int("EMBEDDING_DIMENSIONS", default=384)
# A file that adds to integrations/llm/model_profiles.yaml: windows, prices, providers, fallbacks.
MODEL_PROFILES = env.str("MODEL_PROFILES", default="")
# Endpoints beside the default one, by the name a profile gives: MODEL_PROVIDERS="local=http://…/v1".
MODEL_PROVIDERS: dict[str, str] = env.addresses("MODEL_PROVIDERS", default={})
MODEL_PROVIDER_KEYS: dict[str, str] = env.dict("MODEL_PROVIDER_KEYS", default={})
# Whether a model chooses the best of what a search found, and how long it is waited for. The
# offline model cannot.
SEARCH_SELECTION = env.bool("SEARCH_SELECTION", default=not MODEL_IS_OFFLINE)
SEARCH_SELECTION_SECONDS = env.float("SEARCH_SELECTION_SECONDS", default=5.0)
# An item's relevance halves with every so many days of its age; 0: age does not matter.
SEARCH_HALF_LIFE_DAYS = env.float("SEARCH_HALF_LIFE_DAYS", default=0.0)
# How long what a search found may be kept while nothing is written; 0: it is not kept.
SEARCH_CACHE_SECONDS = env.int("SEARCH_CACHE_SECONDS", default=300)
# Whether a model summarises the older turns of a conversation that no longer fit. The offline
# model cannot.
CONVERSATION_SUMMARY = env.bool("CONVERSATION_SUMMARY", default=False) and not MODEL_IS_OFFLINE
MODEL_TIMEOUT_SECONDS = env.float("MODEL_TIMEOUT_SECONDS", default=60.0)

# Checkpoints of the ledger go out to whom an operator named in the admin.
CHECKPOINT_DELIVERY_HOURS = env.float("CHECKPOINT_DELIVERY_HOURS", default=24.0)
# Authorities that time stamp the ledger every hour (RFC 3161), with commas between.
LEDGER_TSA_URL: list[str] = env.list("LEDGER_TSA_URL", default=[])
# A PEM file of their root certificates: a time stamp that is not signed under them is refused.
LEDGER_TSA_CERTIFICATES = env.str("LEDGER_TSA_CERTIFICATES", default="")
# Only for tests and closed networks: webhooks and MCP servers at private addresses, plain HTTP.
OUTGOING_TO_PRIVATE = env.bool("OUTGOING_TO_PRIVATE", default=False)
# Each conversation with an MCP server, and how often one that came to nothing is tried again.
MCP_TIMEOUT_SECONDS = env.float("MCP_TIMEOUT_SECONDS", default=10.0)
MCP_RETRIES = env.int("MCP_RETRIES", default=3)
# smtp+tls://user:password@mail.example:587; mail is refused where it is not set.
EMAIL_URL = env.address("EMAIL_URL", "smtp", "smtps", "smtp+tls", "smtp+ssl")
vars().update(env.email_url_config(EMAIL_URL or "smtp://localhost:25"))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default="remit@localhost")

# --- Limits ----------------------------------------------------------------------------
WEBHOOK_MAX_BYTES = env.int("WEBHOOK_MAX_BYTES", default=1024 * 1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = WEBHOOK_MAX_BYTES
# Connections that one web process has open, of all and of one address (of an IPv6 network of 64
# bits); proxies, or networks of them, which speak for many and say for whom in X-Forwarded-For.
WEB_CONNECTIONS = env.int("WEB_CONNECTIONS", default=1000)
WEB_CONNECTIONS_OF_ADDRESS = env.int("WEB_CONNECTIONS_OF_ADDRESS", default=256)
TRUSTED_PROXIES: Networks = env.networks("TRUSTED_PROXIES")
# Until when the head of a request is here as a whole, and its body; how long a reader may take
# nothing of an answer.
HEAD_SECONDS = env.float("HEAD_SECONDS", default=10.0)
BODY_SECONDS = env.float("BODY_SECONDS", default=30.0)
READ_SECONDS = env.float("READ_SECONDS", default=30.0)
# A body that is larger is only read from a caller who is known; so much of those is held at once.
UNKNOWN_BODY_BYTES = env.int("UNKNOWN_BODY_BYTES", default=16 * 1024)
HELD_BODY_BYTES = env.int("HELD_BODY_BYTES", default=64 * 1024 * 1024)
HELD_BODY_BYTES_OF_ADDRESS = env.int("HELD_BODY_BYTES_OF_ADDRESS", default=16 * 1024 * 1024)
# Requests of one address (ADDRESS_RATE a second, and so many at once after a rest), in one web
# process; webhooks and chats that one works on at once, and webhooks that wait in line there. One
# statement stores the webhooks that come while the one before is under way (config.door.webhooks).
ADDRESS_RATE = env.float("ADDRESS_RATE", default=100.0)
ADDRESS_BURST = env.int("ADDRESS_BURST", default=1000)
WEBHOOKS_AT_ONCE = env.int("WEBHOOKS_AT_ONCE", default=64)
WEBHOOKS_IN_LINE = env.int("WEBHOOKS_IN_LINE", default=64)
CHATS_AT_ONCE = env.int("CHATS_AT_ONCE", default=64)
# With so many tasks in the queue webhooks hear to come later; with so many turns, chats.
DELIVERIES_WAITING_MOST = env.int("DELIVERIES_WAITING_MOST", default=5000)
TURNS_WAITING_MOST = env.int("TURNS_WAITING_MOST", default=1000)
TURN_MAX_STEPS = env.int("TURN_MAX_STEPS", default=15)
SPECIALIST_MAX_STEPS = env.int("SPECIALIST_MAX_STEPS", default=10)
INBOUND_MAX_STEPS = env.int("INBOUND_MAX_STEPS", default=5)
TURN_MAX_TOOL_CALLS = env.int("TURN_MAX_TOOL_CALLS", default=40)
# A turn with its specialists; 0: without limit.
TURN_MAX_TOKENS = env.int("TURN_MAX_TOKENS", default=1_000_000)
TURN_MAX_COST = env.decimal("TURN_MAX_COST", default=Decimal("2.00"))  # US dollars
# An answer after so many tool calls, or by a plan, is reviewed; 0: none is.
REVIEW_MIN_CALLS = env.int("REVIEW_MIN_CALLS", default=4)
REVIEW_EVERY_CALLS = env.int("REVIEW_EVERY_CALLS", default=8)  # in the middle of work; 0: never
REVIEW_MAX_ROUNDS = env.int("REVIEW_MAX_ROUNDS", default=2)  # then the answer is taken as it is
REVIEW_MODEL = env.str("REVIEW_MODEL", default=CHAT_MODEL)
TURN_MAX_SECONDS = env.float("TURN_MAX_SECONDS", default=180.0)
TURN_LEASE_SECONDS = env.float("TURN_LEASE_SECONDS", default=60.0)
# Turns that one process of `manage.py run_turns` works on side by side, a thread each.
TURN_THREADS = env.int("TURN_THREADS", default=1000)
# Deliveries that one process of the task cluster works on side by side, a thread each.
DELIVERY_THREADS = env.int("DELIVERY_THREADS", default=8)
# How long they may go on when the process has to stop; then others take them over.
TURN_STOP_SECONDS = env.float("TURN_STOP_SECONDS", default=8.0)
TOOL_TIMEOUT_SECONDS = env.float("TOOL_TIMEOUT_SECONDS", default=30.0)
RESULT_MAX_BYTES = env.int("RESULT_MAX_BYTES", default=32_000)  # of one tool call
APPROVAL_HOURS = env.int("APPROVAL_HOURS", default=0)  # 0: approvals never expire
PATTERN_DAYS = env.int("PATTERN_DAYS", default=180)  # then a person renews a learned pattern
RECONCILE_DAYS = env.int("RECONCILE_DAYS", default=7)  # between runs; 0: by hand alone
APPROVAL_ESCALATE_HOURS = env.int("APPROVAL_ESCALATE_HOURS", default=0)  # 0: by hand alone
MAX_OPEN_ASKS_PER_TURN = env.int("MAX_OPEN_ASKS_PER_TURN", default=10)
# About one mail, file or sender, as far as the user did not ask for it in words of their own.
MAX_OPEN_ASKS_PER_CAUSE = env.int("MAX_OPEN_ASKS_PER_CAUSE", default=5)
MAX_OPEN_ASKS_PER_ACCOUNT = env.int("MAX_OPEN_ASKS_PER_ACCOUNT", default=100)
OPEN_ASKS_KEPT_FOR_PEOPLE = env.int("OPEN_ASKS_KEPT_FOR_PEOPLE", default=50)  # of an account's
# More senders of alerts, in the form of guardrails/facts/security_senders.txt.
SECURITY_SENDERS_FILE = env.str("SECURITY_SENDERS_FILE", default="")
CHANGE_REQUESTS_PER_DAY = env.int("CHANGE_REQUESTS_PER_DAY", default=10)  # of one user

# --- API -------------------------------------------------------------------------------
# Sites whose pages may use the API from a browser, with commas between: “https://app.example”.
API_ORIGINS: list[str] = env.list("API_ORIGINS", default=[])
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "integrations.web.authentication.ServiceTokenAuthentication",
        "integrations.web.authentication.OperatorAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["config.rest.errors.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "integrations.web.schema.AutoSchema",
    "EXCEPTION_HANDLER": "config.rest.errors.respond",
    "DEFAULT_THROTTLE_CLASSES": ["integrations.web.authentication.TokenThrottle"],
    "DEFAULT_THROTTLE_RATES": {"token": env.str("TOKEN_RATE", default="600/min")},
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = schema.SETTINGS

# --- Pages and security ----------------------------------------------------------------
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
LOCALE_PATHS = [BASE_DIR / "locale"]  # what Remit itself says to users (agents.answer.records)
FORMAT_MODULE_PATH = ["config.pages.formats"]  # times show their zone
STATIC_URL = "static/"
STATIC_ROOT = STATE_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "templates" / "static"]
WHITENOISE_USE_FINDERS = True  # pages are styled without a collectstatic run
WHITENOISE_AUTOREFRESH = DEBUG
# Django warns that it reads a static file as a whole under ASGI. Ours are small.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous")
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "admin:index"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]

CONTENT_SECURITY_POLICY = content_policy.POLICY
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
# HTTPS=true behind a TLS proxy; `make run` serves plain HTTP on loopback only.
HTTPS = env.bool("HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_ENGINE = "integrations.web.sessions"
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# --- Logging in ------------------------------------------------------------------------
# Whether staff needs a second factor: an authenticator app or a passkey. `make run` has none to
# ask for, because passkeys need HTTPS.
SECOND_FACTOR = env.bool("SECOND_FACTOR", default=HTTPS)
SINGLE_SIGN_ON = single_sign_on.read(env, is_web=PROCESS in ("web", "command"))
ACCOUNT_ADAPTER = "agents.office.log_ins.LogIns"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]  # nobody signs up
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = False
ACCOUNT_SESSION_REMEMBER = False
LOGOUT_REDIRECT_URL = ACCOUNT_LOGOUT_REDIRECT_URL = LOGIN_URL
CSRF_FAILURE_VIEW = "config.rest.errors.no_token"
ACCOUNT_RATE_LIMITS = {
    "login_failed": "10/m/ip,5/5m/key",  # by address; by name and address, locked for five minutes
    "login_failed_of_name": "30/15m/key",  # whatever the address (agents.office.log_ins)
}
MFA_ADAPTER = "integrations.web.second_factor.SecondFactors"
MFA_FORMS = {
    "add_webauthn": "config.pages.passkey_forms.AddPasskey",
    "edit_webauthn": "config.pages.passkey_forms.EditPasskey",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_USER_VERIFICATION = "required"
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_ISSUER = "Remit"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS  # on this machine alone

UNFOLD = theme.UNFOLD

# --- Queue and logs --------------------------------------------------------------------
# The clock of a taken task runs while it waits behind others in the cluster, so a task may
# only be given out again after every one before it had its full time.
TASK_WORKERS = env.int("TASK_WORKERS", default=2)
TASK_TIMEOUT_SECONDS = env.int("TASK_TIMEOUT_SECONDS", default=300)
TASKS_AHEAD = TASK_WORKERS
Q_CLUSTER: dict[str, Any] = {
    "name": "remit",
    "orm": "default",
    "broker_class": "config.broker.Broker",
    "workers": TASK_WORKERS,
    "queue_limit": TASKS_AHEAD,
    "timeout": TASK_TIMEOUT_SECONDS,
    "retry": TASK_TIMEOUT_SECONDS * (-(-(TASKS_AHEAD + 1) // TASK_WORKERS) + 1) + 30,
    "poll": 1,
    # Our rows say what became of a task; the queue forgets it once it was tried.
    "save_limit": -1,
    "ack_failures": True,
    "max_attempts": 1,
    "catch_up": False,
    "label": "Queue",
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "config.logs.LineFormatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {
        "handlers": ["stderr"],
        "level": env.choice("LOG_LEVEL", "INFO", logging.getLevelNamesMapping()),
    },
    # httpx logs full URLs, which hold user ids and mail ids.
    "loggers": {name: {"level": "WARNING"} for name in ("httpx", "httpx2", "openai")},
}
