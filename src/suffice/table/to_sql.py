"""What a classifier of tables hands to SQL and to the browser: plain values of what was fitted."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.sql.scores import ScoredModel, score_sql
from suffice.sql.terms import Residual
from suffice.table.fitted import TableFitted
from suffice.table.residual_features import MAX_DEVIATIONS


def scored_model(fitted: TableFitted) -> ScoredModel:
    """Return what scores rows outside of Python: prior, blocks and combination."""
    residuals = {
        one.column: Residual(
            one.levels, one.centre, one.scale, MAX_DEVIATIONS, one.logarithm, coefficients
        )
        for one, coefficients in fitted.residuals
    }
    return ScoredModel(
        fitted.classes.tolist(),
        fitted.log_prior,
        fitted.counter.schema,
        fitted.posteriors,
        fitted.combination,
        residuals,
    )


def table_sql(
    fitted: TableFitted, table: str | Sequence[str], dialect: str, *, reasons: bool
) -> str:
    """Return a SELECT that scores the rows of a table in a database."""
    return score_sql(scored_model(fitted), table, dialect, reasons=reasons)
