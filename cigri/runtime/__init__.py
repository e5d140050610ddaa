"""What a module is made of: its tools, its report, its log, and what stops the harm it could do."""
