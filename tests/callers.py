"""Callers by their names, as the kernel tells them; root owns all campaigns."""

from cigri.identity.callers import SUPERUSER, Caller

ALICE, BOB, ROOT = Caller("alice"), Caller("bob"), Caller(SUPERUSER)
