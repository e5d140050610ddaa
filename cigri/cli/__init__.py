"""The commands of users: one file each; what they share is in `command`."""
