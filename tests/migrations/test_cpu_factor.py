"""The migration by which the CPU factor that was stored by default is that of nobody (0075), and the way back."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.settings.cluster_config import ClusterConfig

BEFORE = "0074"
ROWS = """
INSERT INTO clusters (name, config) VALUES
    ('assumed', '{"driver": "slurm", "features": {"cpufactor_lrms": 1.0, "draft": false}}'),
    ('declared', '{"driver": "slurm", "features": {"cpufactor_lrms": 1.25}}'),
    ('older', '{"driver": "slurm"}');
"""
FACTORS = "SELECT name, config #>> '{features,cpufactor_lrms}' AS factor FROM clusters ORDER BY name"


def factors(database: Database) -> list[tuple[str, str | None]]:
    with database.begin() as conn:
        return [(row.name, row.factor) for row in conn.execute(text(FACTORS))]


def test_a_factor_that_was_assumed_is_gone_and_comes_back(older: Database) -> None:
    schema.upgrade(older)
    assert factors(older) == [("assumed", None), ("declared", "1.25"), ("older", None)]
    with older.begin() as conn:
        assert schema.differences(conn) == []
        for config in conn.scalars(text("SELECT config FROM clusters")):
            ClusterConfig.model_validate(config)  # a factor does not go with draft = false
    schema.downgrade(older, BEFORE)
    assert factors(older) == [("assumed", "1.0"), ("declared", "1.25"), ("older", None)]
