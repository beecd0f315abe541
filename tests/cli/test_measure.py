"""suffice evaluate, cv, compare."""

import json

import numpy as np
import pyarrow.csv
import pytest
from sklearn import metrics

import suffice

COSTS = "action,no,yes\ncall,1,3\nwait,20,0\n"


def test_an_evaluation_is_what_scikit_learn_measures(run, shop):
    found = json.loads(run("evaluate", "model.suffice", "more.csv", "--json").out)
    table = pyarrow.csv.read_csv("more.csv")
    labels = np.asarray(table["stays"])
    model = suffice.load("model.suffice")
    proba, guessed = model.predict_proba(table), model.predict(table)
    assert found["rows"] == 60
    assert found["log_loss"] == pytest.approx(metrics.log_loss(labels, proba), rel=1e-9)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(labels, guessed))
    confusion = [list(row.values()) for row in found["confusion"].values()]
    assert confusion == metrics.confusion_matrix(labels, guessed).tolist()
    precision, recall, _, support = metrics.precision_recall_fscore_support(labels, guessed)
    classes = found["classes"].values()
    assert [one["precision"] for one in classes] == pytest.approx(precision)
    assert [one["recall"] for one in classes] == pytest.approx(recall)
    assert [one["rows"] for one in classes] == support.tolist()
    assert sum(one["rows"] for one in found["calibration"]) == 60


def test_an_evaluation_prints_its_tables(run, shop):
    done = run("evaluate", "model.suffice", "more.csv")
    assert done.code == 0
    for part in ("60 rows of more.csv", "log-loss", "taken for yes", "precision", "were right"):
        assert part in done.out


def test_labels_that_were_never_learned_count_as_wrong(run, shop):
    text = (shop / "more.csv").read_text().splitlines()
    (shop / "new.csv").write_text("\n".join([*text, "yearly,10,3,,maybe"]))
    old = json.loads(run("evaluate", "model.suffice", "more.csv", "--json").out)
    new = json.loads(run("evaluate", "model.suffice", "new.csv", "--json").out)
    assert new["unknown_labels"] == 1
    assert new["log_loss"] == pytest.approx(old["log_loss"])
    assert new["accuracy"] == pytest.approx(old["accuracy"] * 60 / 61)
    assert "never learned" in run("evaluate", "model.suffice", "new.csv").out


def test_rows_without_a_label_are_left_out_with_a_warning(run, shop):
    with open("more.csv", "a") as file:
        file.write("yearly,10,3,,\n")
    done = run("evaluate", "model.suffice", "more.csv", "--json")
    assert json.loads(done.out)["rows"] == 60
    assert "1 rows of 'more.csv' have no label" in done.err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("costs.csv", COSTS),
        ("costs.json", '{"call": {"no": 1, "yes": 3}, "wait": {"no": 20, "yes": 0}}'),
    ],
)
def test_costs_decide_and_are_measured(name, text, run, shop):
    (shop / name).write_text(text)
    found = json.loads(run("evaluate", "model.suffice", "more.csv", "--loss", name, "--json").out)
    table = pyarrow.csv.read_csv("more.csv")
    costs = {"call": {"no": 1, "yes": 3}, "wait": {"no": 20, "yes": 0}}
    decided = suffice.load("model.suffice").decide(table, loss=costs)
    paid = [
        costs[one][label] for one, label in zip(decided, np.asarray(table["stays"]), strict=True)
    ]
    assert found["costs"]["mean_cost"] == pytest.approx(np.mean(paid))
    assert found["costs"]["decisions"]["call"] == np.sum(decided == "call")
    assert "most_probable_class" not in found["costs"]
    assert "least expected cost" in run("evaluate", "model.suffice", "more.csv", "--loss", name).out


def test_the_most_probable_class_is_compared_where_actions_are_classes(run, shop):
    (shop / "costs.csv").write_text("action,no,yes\nno,0,1\nyes,1,0\n")
    done = run("cv", "shop.csv", "--target", "stays", "--loss", "costs.csv", "--json")
    found = json.loads(done.out)
    error = 1 - found["accuracy"]
    assert found["costs"]["mean_cost"] == pytest.approx(error)
    assert found["costs"]["most_probable_class"]["mean_cost"] == pytest.approx(error)
    assert found["costs"]["best_single_action"]["action"] == "yes"


def test_cross_validation_is_that_of_the_library(run, shop):
    found = json.loads(run("cv", "shop.csv", "--target", "stays", "--folds", "4", "--json").out)
    with suffice.sources.open_source("shop.csv") as source:
        (unit,) = source.units(source.column_names)
    rows, labels = unit.table.drop(["stays"]), np.asarray(unit.table["stays"])
    expected = suffice.GenerativeClassifier().cross_validate(rows, labels, 4)
    assert found["folds"] == 4
    assert found["log_loss"] == pytest.approx(expected.mean_log_loss[0], rel=1e-9)
    assert found["accuracy"] == pytest.approx(expected.mean_accuracy[0])
    assert "Confusion" in run("cv", "shop.csv", "--target", "stays").out


def test_learning_curves_are_drawn_and_written(run, shop):
    options = ("--target", "stays", "--repeats", "2", "--ignore", "note")
    done = run("compare", "shop.csv", *options, "-o", "curves.png")
    assert (done.code, done.err) == (0, "")
    assert "o GenerativeClassifier   x LogisticRegression" in done.out
    assert (shop / "curves.png").read_bytes().startswith(b"\x89PNG")
    done = run("compare", "shop.csv", *options, "-o", "curves.png")
    assert done.code == 1
    assert "--force" in done.err
    done = run("compare", "shop.csv", *options, "-o", "curves.png", "--force", "--json")
    found = json.loads(done.out)
    assert found["sizes"][-1] == 140
    assert len(found["LogisticRegression"]["log_loss"]) == len(found["sizes"])


def test_learning_curves_do_without_matplotlib(run, shop, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("compare", "shop.csv", "--target", "stays", "--repeats", "2", "--rows", "60")
    assert done.code == 0
    assert "No PNG was written: matplotlib is not installed." in done.out
    assert not (shop / "learning_curves.png").exists()


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (("evaluate", "model.suffice", "odd.csv"), 1, "has no column 'stays'"),
        (("evaluate", "model.suffice", "more.csv", "--target", "x"), 1, "has no column 'x'"),
        (
            ("evaluate", "model.suffice", "more.csv", "--loss", "no"),
            1,
            "There is no file or folder",
        ),
        (("evaluate", "model.suffice", "more.csv", "--loss", "odd.csv"), 1, "without a cost for"),
        (("evaluate", "model.suffice", "more.csv", "--loss", "bad.csv"), 1, "no table of costs"),
        (("evaluate", "line.suffice", "more.csv", "--target", "stays"), 1, "has no classes"),
        (("evaluate", "model.suffice", "blank.csv"), 1, "has no row with a label"),
        (("cv", "more.csv"), 2, "--target COLUMN (there are: plan, months"),
        (("cv", "more.csv", "--target", "stays", "--folds", "1"), 2, "--folds"),
        (("cv", "more.csv", "--target", "x"), 1, "has no column 'x'"),
        (("compare", "none.csv", "--target", "x"), 1, "There is no file 'none.csv'"),
        (("compare", "one.csv", "--target", "stays"), 1, "All rows are of class 'yes'"),
    ],
)
def test_wrong_input_says_what_to_do(args, code, text, run, shop):
    lines = (shop / "more.csv").read_text().splitlines()
    (shop / "odd.csv").write_text("a,b\n1,2\n")
    (shop / "bad.csv").write_text("action,no,yes\ncall,x,3\n")
    (shop / "blank.csv").write_text(f"{lines[0]}\nyearly,10,3,,\n")
    ones = [line for line in lines if line.endswith("yes")]
    (shop / "one.csv").write_text("\n".join([lines[0], *ones]))
    columns = pyarrow.csv.read_csv("more.csv").select(["months", "visits"])
    suffice.LinearRegression().fit_from(columns, target="visits").save("line.suffice")
    done = run(*args)
    assert (done.code, done.out) == (code, "")
    assert text in done.err


def test_a_column_that_every_fold_leaves_out_is_not_named_by_each(run, shop):
    lines = (shop / "shop.csv").read_text(encoding="utf-8").splitlines()
    numbered = [f"{lines[0]},number", *(f"{line},{at}" for at, line in enumerate(lines[1:], 1))]
    (shop / "numbered.csv").write_text("\n".join(numbered), encoding="utf-8")
    done = run("cv", "numbered.csv", "--target", "stays", "--folds", "3")
    assert (done.code, done.err) == (0, "")
