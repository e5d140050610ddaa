"""A campaign from its description to rows."""
