"""What the tables are written with: Python types as PostgreSQL's, enums, names of constraints."""

import re
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Double,
    Enum,
    Identity,
    Integer,
    MetaData,
    Named,
    String,
    Table,
    Text,
    TypedColumns,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, TIMESTAMP
from sqlalchemy.sql.schema import SchemaItem
from sqlalchemy.types import TypeEngine

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
COLUMN_TYPES: dict[type[Any], TypeEngine[Any]] = {
    Integer: BigInteger(),
    String: Text(),
    Double: DOUBLE_PRECISION(),
    DateTime: TIMESTAMP(timezone=True),
}


class TableColumns(TypedColumns):
    """The columns of a table: `Named[int]` is NOT NULL, `Named[int | None]` is not."""

    __getattr__: None  # type: ignore[assignment,misc]  # for mypy: a column that is not listed does not exist


class NumberedColumns(TableColumns):
    id: Named[int] = Column(Identity(), primary_key=True)


C = TypeVar("C", bound=TableColumns)


def table(name: str, columns: type[C], *rules: SchemaItem) -> Table[C]:
    """A table of `columns`, which have our types instead of those that SQLAlchemy reads from annotations."""
    made = Table(name, metadata, columns, *rules)
    for column in made.columns:
        column.type = COLUMN_TYPES.get(type(column.type), column.type)
    return made


def one_of(words: type[StrEnum], name: str = "") -> Enum:
    """PostgreSQL's enum of these words: of TaskState it is task_state, unless `name` says otherwise."""
    name = name or re.sub(r"\B([A-Z])", r"_\1", words.__name__).lower()
    return Enum(words, name=name, values_callable=lambda members: [member.value for member in members])
