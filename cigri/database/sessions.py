"""Sessions of PostgreSQL: the settings of each, whatever its role or database has, and what it must lead to."""

from collections.abc import Mapping
from typing import Any

from cigri.errors import ConfigError

SESSION_SETTINGS: Mapping[str, str] = {
    "timezone": "UTC",
    "datestyle": "ISO, MDY",
    "intervalstyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "search_path": "public",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "statement_timeout": "0",
    "idle_session_timeout": "0",
    "random_page_cost": "1.1",  # a few rows by their keys, in memory: neither scans nor compilation
    "jit": "off",
}
"""What statements and the texts of their answers rely on; a role or a database may have other defaults."""
CLIENT_ENCODING = "UTF8"
SERVER_ENCODING = "UTF8"
REFUSED_SETTINGS = "unsupported startup parameter"
"""PgBouncer's words for settings at the beginning of a session."""
POOLER = (
    "a connection pooler, as PgBouncer, stands between CiGri and PostgreSQL. It takes away what CiGri needs: "
    "settings, locks and notifications of a session. Let database.url name the PostgreSQL itself"
)


def startup_options(settings: Mapping[str, str]) -> str:
    """The settings as libpq's `options` takes them."""
    return " ".join(f"-c {name}={value.replace(' ', chr(92) + ' ')}" for name, value in settings.items())


def require_usable(connection: Any) -> None:
    """Raise ConfigError, and close this new connection, unless it leads to a database that CiGri can use."""
    encoding = connection.info.parameter_status("server_encoding")
    pid = connection.pgconn.exec_(b"SELECT pg_catalog.pg_backend_pid()").get_value(0, 0)
    if encoding != SERVER_ENCODING:
        connection.close()
        raise ConfigError(
            f"the database has the encoding {encoding}, which cannot hold all names: make another one by "
            f"`createdb --encoding {SERVER_ENCODING} --template template0 NAME`, and name it in database.url. "
            "`pg_dump` and `psql` bring over what the old one holds"
        )
    if pid is None or int(pid) != connection.info.backend_pid:
        connection.close()
        raise ConfigError(POOLER)
