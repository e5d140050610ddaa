"""When campaigns end."""
