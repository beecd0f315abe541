"""Laws that every tally, prior and family obeys: a new one is tested by one line."""

from suffice.testing.family import check_family
from suffice.testing.prior import check_prior
from suffice.testing.tally import check_tally

__all__ = ["check_family", "check_prior", "check_tally"]
