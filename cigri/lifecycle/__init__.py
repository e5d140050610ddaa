"""What follows from what: rules that users and operators can look up; pure."""
