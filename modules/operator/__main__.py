"""`python -P -m modules.operator`, the same as the command `cigri`."""

import sys

from modules.operator import main

sys.exit(main(None))
