"""Which queues, submit pools and clusters suit a demand."""
