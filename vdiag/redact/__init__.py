"""Replace secrets in what leaves the machine."""

from vdiag.redact.engine import Redactor, redact

__all__ = ["Redactor", "redact"]
