"""SSH keys: who signs with one that is registered as a user's is that user, where no socket tells who they are."""
