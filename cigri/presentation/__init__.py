"""What people are told: states, reasons, events and values in words."""
