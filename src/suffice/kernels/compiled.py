"""How every kernel is compiled."""

from __future__ import annotations

from typing import Any

import numba

# Sums may be regrouped (that is what makes them fast) and a multiply fused with an add; NaN,
# infinity and the sign of zero keep their meaning, because gaps are NaN.
REGROUPED = {"reassoc", "contract"}

kernel: Any = numba.njit(nogil=True, cache=True, fastmath=REGROUPED, error_model="numpy")
exact_kernel: Any = numba.njit(nogil=True, cache=True, error_model="numpy")
