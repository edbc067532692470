"""Write docs/hardening.md."""

from tests.hardening import PAGE, page

PAGE.write_text(page(), encoding="utf-8")
