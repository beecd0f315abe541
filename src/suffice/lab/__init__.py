"""Experiments on tallies: which features matter, and where on a grid they are."""

from suffice.lab.rank_features import FeatureRanking, rank_features
from suffice.lab.searchlight import Searchlight, searchlight
from suffice.lab.select_features import SelectFeatures, select_features

__all__ = [
    "FeatureRanking",
    "Searchlight",
    "SelectFeatures",
    "rank_features",
    "searchlight",
    "select_features",
]
