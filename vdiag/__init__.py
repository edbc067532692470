"""vdiag: hand it the log of a broken vLLM server and it names the root cause."""

__version__ = "0.1.0"
