"""Tables of what is read say what differs."""

import pytest

pytest.register_assert_rewrite("reading")
