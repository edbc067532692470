"""The report model and one renderer a module."""
