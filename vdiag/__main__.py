"""``python -m vdiag``."""

from vdiag.cli.main import run

if __name__ == "__main__":
    run()
