"""The programs: each one cycle's step, alone or driven by the almighty; they meet only in the database."""
