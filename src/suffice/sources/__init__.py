"""Where rows come from: Arrow streams, data frames, files, databases and Spark, batch by batch."""

from suffice.sources.opening import first_rows, open_source
from suffice.sources.source import Reservoir, Source, SqlTable, Unit

__all__ = ["Reservoir", "Source", "SqlTable", "Unit", "first_rows", "open_source"]
