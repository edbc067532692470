"""The command line: one module a command, no logic of its own."""
