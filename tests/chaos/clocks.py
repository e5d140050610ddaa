"""The clock of a cluster of the testbed as its programs ask for it: all clusters share the clock of this machine."""

from tests.faults.memories import STATE
from tests.grid import Site

RIGHT = "while mountpoint -q /usr/bin/date; do umount /usr/bin/date; done"
OFF = """
cp /usr/bin/date {place}.right
cat >{place} <<'END'
#!/bin/sh
case $* in +*) exec {place}.right -d '{by}' "$@" ;; esac
exec {place}.right "$@"
END
chmod 755 {place} {place}.right
mount --bind {place} /usr/bin/date
"""


def put_clock_off(site: Site, by: str) -> None:
    """Let `date` be off by so much, as `date -d` takes it, for all that runs on this cluster, its jobs as well."""
    put_clock_right(site)
    site.sh(OFF.format(place=STATE / site.name / "date", by=by), user="root")


def put_clock_right(site: Site) -> None:
    """Let `date` say what it is, also where it did before."""
    site.sh(RIGHT, user="root")
