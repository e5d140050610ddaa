"""Triggers that count the tasks of each campaign by state, and add up what they are expected to take."""

from sqlalchemy import Connection, MetaData

COUNT_TASKS = """
CREATE FUNCTION count_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO task_counts (campaign_id, state, n, known, expected)
            SELECT campaign_id, state, count(*), count(expected), coalesce(sum(expected), 0)
            FROM new_tasks GROUP BY campaign_id, state;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO task_counts (campaign_id, state, n, known, expected)
            SELECT campaign_id, state, -count(*), -count(expected), -coalesce(sum(expected), 0)
            FROM old_tasks GROUP BY campaign_id, state;
    ELSE
        INSERT INTO task_counts (campaign_id, state, n, known, expected)
            SELECT campaign_id, state, sum(n), coalesce(sum(n) FILTER (WHERE expected IS NOT NULL), 0),
                   coalesce(sum(n * expected), 0)
            FROM (
                SELECT campaign_id, state, expected, 1 AS n FROM new_tasks
                UNION ALL SELECT campaign_id, state, expected, -1 FROM old_tasks
            ) AS moved GROUP BY campaign_id, state
            HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE expected IS NOT NULL) <> 0;
    END IF;
    RETURN NULL;
END $$
"""
COUNT_TRIGGERS = tuple(
    f"CREATE TRIGGER count_{verb} AFTER {verb} ON tasks REFERENCING {seen} "
    "FOR EACH STATEMENT EXECUTE FUNCTION count_tasks()"
    for verb, seen in (
        ("insert", "NEW TABLE AS new_tasks"),
        ("update", "NEW TABLE AS new_tasks OLD TABLE AS old_tasks"),
        ("delete", "OLD TABLE AS old_tasks"),
    )
)


def create_counting(_target: MetaData, conn: Connection, **_: object) -> None:
    """What SQLAlchemy calls after it has created the tables."""
    for statement in (COUNT_TASKS, *COUNT_TRIGGERS):
        conn.exec_driver_sql(statement)
