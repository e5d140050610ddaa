"""When campaigns end: by which formula (campaign_end.py), with which last tasks (last_task.py), on which dates."""
