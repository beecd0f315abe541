"""Experiments on tallies: models compared, features ranked, curves of learning, searchlights."""

from suffice.lab.compare import Comparison, compare
from suffice.lab.difference import difference
from suffice.lab.encoded import evaluate_logistic
from suffice.lab.evidence_table import EvidenceTable, evidence_table
from suffice.lab.feature_selection import (
    FeatureRanking,
    SelectFeatures,
    rank_features,
    select_features,
)
from suffice.lab.regions import plot_regions
from suffice.lab.sample_complexity import SampleComplexity, sample_complexity
from suffice.lab.searchlight import Searchlight, searchlight

__all__ = [
    "Comparison",
    "EvidenceTable",
    "FeatureRanking",
    "SampleComplexity",
    "Searchlight",
    "SelectFeatures",
    "compare",
    "difference",
    "evaluate_logistic",
    "evidence_table",
    "plot_regions",
    "rank_features",
    "sample_complexity",
    "searchlight",
    "select_features",
]
