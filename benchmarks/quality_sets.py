"""The data sets of `make quality`, read from a folder of tables and texts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Split = tuple[NDArray[np.intp], NDArray[np.intp]]

# The folder: named by the environment, or beside the project.
FOLDER = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[2].joinpath("shared", "data")))
FOLDS = 5


@dataclass(frozen=True)
class LabelledSet:
    """The file of a data set, and the roles of its columns.

    Parameters
    ----------
    file : below the folder
    label : column of the classes
    leave_out : columns that are not features
    categorical : columns that the peers encode as categories; None for those that hold text
    split : column that holds "train" or "test", if there is an official split
    groups : column of groups that stay together
    without : a class whose rows are dropped
    """

    file: str
    label: str
    leave_out: tuple[str, ...] = ()
    categorical: tuple[str, ...] | None = None
    split: str | None = None
    groups: str | None = None
    without: str | None = None

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.file.partition("/")[0]

    @property
    def text(self) -> bool:
        """Whether the rows are texts."""
        return ".jsonl" in self.file

    def read(self) -> Any:
        """Return the whole set as a data frame."""
        if self.text:
            frame = pd.read_json(FOLDER / self.file, lines=True)
        else:
            frame = pd.read_csv(FOLDER / self.file, keep_default_na=False, na_values=[""])
        if self.without is not None:
            frame = frame[frame[self.label] != self.without].reset_index(drop=True)
        return frame

    def rows(self, frame: Any) -> tuple[Any, NDArray[Any]]:
        """Return the features (or texts) and the labels as text."""
        y = frame[self.label].astype(str).to_numpy()
        if self.text:
            return frame["text"], y
        not_features = [self.label, *self.leave_out, self.split, self.groups]
        return frame.drop(columns=[name for name in not_features if name is not None]), y

    def splits(self, frame: Any, y: NDArray[Any]) -> Iterator[Split]:
        """Return training and test rows: the official split, or five folds."""
        from sklearn.model_selection import GroupKFold, StratifiedKFold

        if self.split is not None:
            test = (frame[self.split] == "test").to_numpy()
            yield np.flatnonzero(~test), np.flatnonzero(test)
        elif self.groups is not None:
            yield from GroupKFold(FOLDS).split(y, y, frame[self.groups])
        else:
            yield from StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y)


TITANIC_LEFT_OUT = ("name", "ticket", "cabin", "boat", "body", "home.dest")
LYMPH_CODES = ("lym_nodes_dimin", "lym_nodes_enlar", "no_of_nodes_in")
SETS = (
    LabelledSet("adult/adult.csv.gz", "income", split="split"),
    LabelledSet("boston_housing/boston_housing.csv", "above_median", leave_out=("medv",)),
    LabelledSet("breast_cancer_ljubljana/breast_cancer_ljubljana.csv", "Class"),
    LabelledSet("house_votes_84/house_votes_84.csv", "Class"),
    LabelledSet("ionosphere/ionosphere.csv", "class"),
    LabelledSet("lenses/lenses.csv", "class"),
    LabelledSet("liver_bupa/liver_bupa.csv", "selector"),
    LabelledSet("lymphography/lymphography.csv", "class", categorical=LYMPH_CODES),
    LabelledSet("optdigits/optdigits.csv.gz", "digit", split="split"),
    LabelledSet("pima/pima.csv", "diabetes"),
    LabelledSet("promoters/promoters.csv", "Class"),
    LabelledSet("sick_thyroid/sick_thyroid.csv", "Class"),
    LabelledSet("sonar/sonar.csv", "class"),
    LabelledSet(
        "titanic3/titanic3.csv", "survived", leave_out=TITANIC_LEFT_OUT, categorical=("pclass",)
    ),
    LabelledSet("haxby_slice/haxby_slice_detrended.csv.gz", "label", groups="run", without="rest"),
    LabelledSet("spambase/spambase.csv.gz", "type"),
    LabelledSet("r8/r8.jsonl.gz", "label", split="split"),
    LabelledSet("sentence_polarity/sentence_polarity.jsonl.gz", "label"),
    LabelledSet("sms_spam/sms_spam.jsonl.gz", "label"),
)
