"""``python -m untaken``."""

import sys

from untaken.cli import main

if __name__ == "__main__":
    sys.exit(main())
