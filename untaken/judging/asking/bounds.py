"""What the access to a model and its engine both know."""

from __future__ import annotations

from typing import Final

REQUESTS: Final = 16
"""Most requests for one question, tool calls and retries included."""
LOCAL: Final = "local"
"""Names the packaged model."""
KEY_SETTING: Final = "UNTAKEN_MODEL_KEY"
"""Environment variable with the key for a model named by its address."""
