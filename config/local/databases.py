"""How each process holds its connections to PostgreSQL, as the environment says."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config.local.variables import Variables

# A replica that does not answer is passed over, and nobody waits long to find out.
HASTY = {"connect_timeout": 2, "tcp_user_timeout": 3_000}  # seconds, and milliseconds
ROUTERS = ["integrations.database.replicas.ReplicaRouter", "audit.ledger.routing.LedgerRouter"]
READ_ONLY = "-c default_transaction_read_only=on"


def configure(env: Variables, process: str, url: str, *, pooler: bool) -> dict[str, Any]:
    """Django's DATABASES. The ledger has a connection of its own, in autocommit: what rolls back
    takes no evidence along.

    With a `pooler` behind the address nothing is kept in a session: no cursor of the server's, no
    prepared statement unless DATABASE_PREPARE says that the pooler knows them, no role. Raises
    ImproperlyConfigured for DATABASE_ROLE then. To a replica (DATABASE_REPLICA_URL)
    nothing is written, whatever its role may do.
    """
    names = ("default", "ledger")
    found = {name: _connection(env, process, url, pooler=pooler) for name in names}
    found["ledger"]["TEST"] = {"MIRROR": "default"}
    if replica := env.address("DATABASE_REPLICA_URL", "postgres", "postgresql"):
        found["replica"] = _connection(env, process, replica, pooler=False)
        found["replica"]["TEST"] = {"MIRROR": "default"}
        options = found["replica"]["OPTIONS"]
        options |= HASTY | {"options": f"{options['options']} {READ_ONLY}"}
        if "pool" in options:
            options["pool"] |= {"min_size": 0, "timeout": HASTY["connect_timeout"]}
    return found


def _connection(env: Variables, process: str, url: str, *, pooler: bool) -> dict[str, Any]:
    config: dict[str, Any] = env.db_url_config(url)
    config["OPTIONS"] = {
        # A statement that comes again is planned once, for a fifth less of the server's CPU a mail.
        "server_side_binding": True,
        "prepare_threshold": 3 if env.bool("DATABASE_PREPARE", default=not pooler) else None,
        "connect_timeout": 5,  # seconds for each server; by itself psycopg waits for two minutes
        **config.get("OPTIONS", {}),
        "application_name": f"remit {process}",  # in pg_stat_activity
    }
    if not pooler:  # which takes no such word; the database's owner says it there
        # 10 s idle in a transaction is a bug in a server; a command may wait for its own work.
        idle_seconds = 10 if process in ("web", "cluster", "turns", "sealer") else 600
        config["OPTIONS"]["options"] = f"-c idle_in_transaction_session_timeout={idle_seconds}s"
    config["DISABLE_SERVER_SIDE_CURSORS"] = pooler
    if role := env.str("DATABASE_ROLE", default=""):
        if pooler:
            raise ImproperlyConfigured(
                "DATABASE_ROLE needs the database itself: give this process its address as "
                "DATABASE_URL, and no DATABASE_DIRECT_URL."
            )
        config["OPTIONS"]["assume_role"] = role  # for migrations, where the owner cannot log in
    # One that died with its server is found out before it is used, not by a failed request.
    is_pooled = process in ("web", "turns")  # the engine looks at those of a pool
    config |= {"ENGINE": "integrations.database", "CONN_HEALTH_CHECKS": not is_pooled}
    config["CONN_MAX_AGE"] = 0 if is_pooled else 600
    if is_pooled:
        config["OPTIONS"]["pool"] = {
            "min_size": 2,
            "max_size": env.int("DATABASE_POOL", default=20),
            # A person waits for the web process in front of a screen; an agent's turn can wait.
            "timeout": 10 if process == "web" else 120,
            "refuses_while_away": process == "web",
            "reconnect_timeout": 1,  # then it begins anew: its own pauses grow to minutes
        }
    return config
