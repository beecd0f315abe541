"""Checkpoints: what was counted of files so far, so that a count can go on after a crash."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from suffice.engines.plan import CountingPlan
from suffice.engines.plan_tally import PlanTally
from suffice.errors import InputError, SourceError
from suffice.persist.file_format import replace_file
from suffice.persist.packing import pack, unpack
from suffice.sources import Source

if TYPE_CHECKING:
    from suffice.engines.estimator import LearnsFromSources

# Rows between two checkpoints, if nothing else is said.
EVERY = 1_000_000


@dataclass(frozen=True)
class Checkpoint:
    """Where a count of files is kept, and how often.

    Parameters
    ----------
    path : of the file
    every : int
        Rows after which it is written again.
    fingerprint : of the files that are counted: names, sizes, times of change
    written_at : how many rows it had when it was written last
    """

    path: str
    every: int
    fingerprint: list[list[Any]]
    written_at: int = 0

    @classmethod
    def of(
        cls, path: str | os.PathLike[str] | None, every: int | None, source: Source
    ) -> Self | None:
        """Return the checkpoint of a count of a source; None if none is wanted."""
        if path is None:
            if every is not None:
                raise InputError("every= says how often a checkpoint is written. Give checkpoint=.")
            return None
        rows = EVERY if every is None else every
        if rows < 1:
            raise InputError(f"A checkpoint every {rows} rows. Use one or more.")
        fingerprint = source.fingerprint()
        if fingerprint is None:
            raise InputError(
                f"{source.name} cannot be counted with a checkpoint: whether its rows are the same "
                "later cannot be known. Use checkpoint= with files, or write the rows to files."
            )
        return cls(os.fspath(path), rows, fingerprint)

    def resume(
        self, learner: LearnsFromSources, plan: CountingPlan, empty: PlanTally
    ) -> tuple[PlanTally, int]:
        """Return the tally that the file holds, and of how many units; nothing if there is none."""
        try:
            with open(self.path, "rb") as file:
                found = unpack(file.read(), self.path)
        except FileNotFoundError:
            return empty, 0
        if found["fingerprint"] != self.fingerprint:
            raise SourceError(
                f"The files have changed since the checkpoint {self.path!r} was written (names, "
                "sizes or times). Remove the checkpoint to begin anew."
            )
        tally = learner.load_tally(bytes(found["tally"]))
        plan.check_same(tally.plan)
        return replace(tally, learner=learner), int(found["units"])

    def write(self, tally: PlanTally, units: int) -> Self:
        """Write the tally of so many units, if enough rows have come since the last time."""
        if tally.rows + tally.left_out < self.written_at + self.every:
            return self
        import numpy as np

        raw = pack(
            {
                "fingerprint": self.fingerprint,
                "units": units,
                "tally": np.frombuffer(tally.to_bytes(), np.uint8),
            }
        )

        def fill(file: BinaryIO) -> None:
            file.write(raw)

        replace_file(self.path, fill)
        return replace(self, written_at=tally.rows + tally.left_out)

    def remove(self) -> None:
        """Remove the file: the count is complete."""
        if os.path.exists(self.path):
            os.unlink(self.path)
