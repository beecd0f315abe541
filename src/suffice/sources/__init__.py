"""Where rows come from: Arrow streams, data frames, files, databases and Spark, batch by batch."""

from suffice.sources.opening import first_rows, open_source
from suffice.sources.source import Reservoir, Source, Unit

__all__ = ["Reservoir", "Source", "Unit", "first_rows", "open_source"]
