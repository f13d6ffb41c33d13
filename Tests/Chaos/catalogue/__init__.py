"""The faults of docs/reliability.md, each a function that makes it for real and says what came of it."""
from . import clients, clock, elsewhere, load, loss, models, network, processes, stores, workers  # noqa: F401  (each registers its faults)
from .case import FAULTS, Broken, NotTried  # noqa: F401
