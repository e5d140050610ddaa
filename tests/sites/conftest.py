"""The same grids on real clusters as for faults."""

from tests.faults.conftest import alpha as alpha
from tests.faults.conftest import beta as beta
from tests.faults.conftest import delta as delta
from tests.faults.conftest import gamma as gamma
