"""Runs the samples of a pack: what its own rules find, and what they find in others."""
