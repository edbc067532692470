"""Write the golden files anew: ``python -m tests.report.update_golden``; review the diff."""

import io

from tests.report import fixtures, test_markdown, test_terminal
from vdiag.redact import redact
from vdiag.report import markdown, terminal


def main() -> None:
    """Write every golden file."""
    for name in test_terminal.CASES:
        for width in (80, 200):
            stream = io.StringIO()
            report = getattr(fixtures, name)()
            terminal.render(report, width=width, color=False, stream=stream)
            path = test_terminal.GOLDEN / f"{name}.{width}.txt"
            path.write_text(stream.getvalue(), encoding="utf-8")
    for name in ("flagship", "unexplained", "two_runs", "no_vllm", "clean"):
        path = test_markdown.GOLDEN / f"{name}.md"
        path.write_text(markdown.render(redact(getattr(fixtures, name)())), encoding="utf-8")
    short = markdown.render(redact(fixtures.flagship()), brief=True)
    (test_markdown.GOLDEN / "flagship.short.md").write_text(short, encoding="utf-8")


if __name__ == "__main__":
    main()
