"""Replace what is private in what leaves the machine."""

from vdiag.redact.engine import Redactor
from vdiag.redact.report import redact

__all__ = ["Redactor", "redact"]
