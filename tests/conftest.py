"""What all tests share."""

import os
import tempfile

# Neither read nor write the cache of whoever runs the tests; processes that tests start inherit it.
os.environ["VDIAG_CACHE_DIR"] = tempfile.mkdtemp(prefix="vdiag-cache-")
