"""Let failures in the shared comparison show what differs."""

import pytest

pytest.register_assert_rewrite("tests.logs.told")
