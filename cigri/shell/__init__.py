"""What is said to a cluster, as text for its shell, and what comes back."""
