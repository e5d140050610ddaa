"""What is known of sites, clusters and queues, and the one rule by which what is said of one holds for those below."""
