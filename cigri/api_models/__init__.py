"""What people are told: a named tuple for each answer, one file per noun; fields as in `--json` and in the API.

Nothing here imports SQLAlchemy: commands that ask the portal read answers without it.
"""
