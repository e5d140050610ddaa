"""Connections kept between transactions: those that the server has ended meanwhile are replaced unseen."""

import os

import psycopg
from sqlalchemy import text

from cigri.database import Database
from cigri.database.background_sessions import give_way
from tests.grid import until


def test_a_connection_that_the_server_has_ended_is_replaced(database: Database) -> None:
    with database.begin() as conn:
        pid = conn.scalar(text("SELECT pg_backend_pid()"))
    with psycopg.connect(database.url.replace("+psycopg", ""), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (pid,))
        gone = "SELECT FROM pg_stat_activity WHERE pid = %s"
        until(lambda: other.execute(gone, (pid,)).fetchone() is None)
    with database.begin() as conn:
        assert conn.scalar(text("SELECT pg_backend_pid()")) != pid


def test_a_connection_with_news_from_a_living_server_is_kept(database: Database) -> None:
    with database.begin() as conn:
        pid = conn.scalar(text("SELECT pg_backend_pid()"))
        conn.execute(text("LISTEN test"))
    with psycopg.connect(database.url.replace("+psycopg", ""), autocommit=True) as other:
        other.execute("NOTIFY test")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT pg_backend_pid()")) == pid


def test_one_who_reads_opens_no_transaction_and_the_next_one_does(database: Database) -> None:
    state = text("SELECT state FROM pg_stat_activity WHERE pid = :pid")
    pid = text("SELECT pg_backend_pid()")
    for way, expected in ((database.read, "idle"), (database.begin, "idle in transaction")):
        with way() as conn:
            mine = conn.scalar(pid)
            with database.lock("other"), database.read() as other:
                assert other.scalar(state, {"pid": mine}) == expected


def test_sessions_of_a_server_of_this_host_give_way_and_others_go_on(database: Database) -> None:
    niceness = 19  # whatever the niceness of these tests
    polite = Database(database.url)
    give_way(polite, niceness)
    try:
        with polite.begin() as conn, database.begin() as other:
            pids = [session.scalar(text("SELECT pg_backend_pid()")) for session in (conn, other)]
            found = [os.getpriority(os.PRIO_PROCESS, pid) for pid in pids if pid]
    finally:
        polite.close()
    assert found == [niceness, os.getpriority(os.PRIO_PROCESS, 0)]


def test_a_connection_that_is_in_use_when_the_database_is_closed_is_closed_when_it_comes_back(
    database: Database,
) -> None:
    with database.begin() as conn:
        used = conn.connection.driver_connection
        assert used
        database.close()
        assert conn.scalar(text("SELECT 1")) == 1
        assert not used.closed
    assert used.closed
    with database.begin() as conn:
        assert conn.scalar(text("SELECT 1")) == 1, "it may be used again"
