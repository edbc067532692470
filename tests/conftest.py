"""What all tests share."""

import os
import tempfile

# Neither read nor write the cache of whoever runs the tests; processes that tests start inherit it.
if "PYTEST_XDIST_WORKER" not in os.environ:  # workers share the one of the main process
    os.environ["VDIAG_CACHE_DIR"] = tempfile.mkdtemp(prefix="vdiag-cache-")

# Reports are as wide as in a pipe, whatever terminal or test runner there is.
os.environ.pop("COLUMNS", None)
