"""The library that CiGri's modules and commands share; it imports none of them."""
