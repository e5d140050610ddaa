"""How jobs are made of tasks, whichever scheduler chooses: their size, their place among queues, another cluster."""
