"""Ng and Jordan's experiment: the data sets, the table, the numbers, the pictures."""

import csv
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import image

from suffice.errors import InputError
from suffice.lab.ng_jordan import (
    NEARBY,
    SOURCES,
    VARIABLE,
    DataSet,
    Source,
    default_folder,
    load_bundled,
    main,
    read_data_set,
    read_data_sets,
    run,
    table,
)

mpl.use("Agg")

SHARED = Path(__file__).parents[2] / NEARBY
with_shared_data = pytest.mark.skipif(
    not SHARED.is_dir(), reason="The folder of shared data sets is not there."
)


def small_sets():
    return [data for data in load_bundled() if data.name.startswith(("iris", "digits, 8"))]


def test_bundled_sets_have_two_classes_and_no_missing_values():
    sets = list(load_bundled())
    assert {data.kind for data in sets} == {"continuous", "discrete"}
    for data in sets:
        assert len(set(data.y.tolist())) == 2
        assert (data.X.dtype.kind == "f") == (data.kind == "continuous")
        assert np.isfinite(data.X).all()


def test_the_table_shows_the_errors_that_were_measured():
    results = run(small_sets(), repeats=2, progress=False)
    lines = table(results).splitlines()
    assert lines[0].startswith("| data | rows | left out | columns | classes | m = 10 | m = 20 |")
    for line, (data, comparison, crossing) in zip(lines[2:], results, strict=False):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[0] == f"{data.name} ({data.kind})"
        at = comparison.sizes.tolist().index(10)
        both = comparison.errors.mean(axis=1)
        assert cells[5] == " / ".join(f"{mean:.3f}" for mean in both[:, at])
        last = int(comparison.sizes[-1])
        end = " / ".join(f"{mean:.3f}" for mean in both[:, -1])
        assert cells[-3] == f"{end} (m = {last})"
        assert comparison.names[2] == f"{comparison.names[0]}, integrated"
        assert (cells[-2] == "no") == (not crossing.crosses)
    assert "GaussianNB or CategoricalNB / LogisticRegression / GaussianNB, integrated" in lines[-1]
    assert "means of 2 splits" in lines[-1]


@pytest.mark.slow
def test_the_command_writes_a_table_numbers_and_pictures(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("suffice.lab.ng_jordan.load_bundled", small_sets)
    main(["--out", "made/here", "--repeats", "2", "--quiet"])
    folder = tmp_path / "made" / "here"
    text = (folder / "table.md").read_text(encoding="utf-8")
    assert text.strip() in capsys.readouterr().out
    for name in ("errors.png", "log_losses.png"):
        pixels = image.imread(folder / name)
        assert np.any(pixels != pixels[0, 0])
    with (folder / "curves.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["data"] for row in rows} == {data.name for data in small_sets()}
    assert all(0 <= float(row["generative_error"]) <= 1 for row in rows)
    assert all(float(row["discriminative_log_loss_standard_error"]) >= 0 for row in rows)


def test_gaussian_discriminants_run_on_continuous_sets_only():
    results = run(small_sets(), repeats=1, generative="discriminant", progress=False)
    assert {result.data.kind for result in results} == {"continuous"}


def test_a_large_set_is_tested_on_and_learned_in_part():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 7000)
    large = DataSet("large", "continuous", rng.normal(size=(7000, 2)) + y[:, None], y)
    (result,) = run([large], repeats=1, progress=False)
    assert result.comparison.sizes[-1] == 5120
    assert result.comparison.errors[0, 0, 0] * 1000 == pytest.approx(
        round(result.comparison.errors[0, 0, 0] * 1000)
    )


def test_reading_leaves_out_rows_with_missing_values_and_columns_of_the_other_kind(tmp_path):
    text = "id,size,colour,none,label\n1,1.5,red,,yes\n2,,blue,,no\n3,2,,,no\n4,3,red,,yes\n"
    (tmp_path / "some.csv").write_text(text, encoding="utf-8")
    numbers = Source("some", "some.csv", "label", "continuous", "numbers", ("id",))
    data = read_data_set(numbers, tmp_path)
    np.testing.assert_array_equal(data.X, [[1.5], [2.0], [3.0]])
    assert data.y.tolist() == ["yes", "no", "yes"]
    assert data.n_skipped == 1
    words = read_data_set(numbers._replace(kind="discrete", only="words"), tmp_path)
    assert words.X.tolist() == [["red"], ["blue"], ["red"]]
    one = read_data_set(numbers._replace(classes=("no",)), tmp_path)
    assert one.y.tolist() == ["no"]


def test_the_folder_is_the_one_named_or_the_one_nearby_or_none(tmp_path, monkeypatch):
    here = tmp_path / "work"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.delenv(VARIABLE, raising=False)
    assert default_folder() is None
    NEARBY.mkdir(parents=True)
    assert default_folder() == NEARBY
    monkeypatch.setenv(VARIABLE, "elsewhere")
    assert default_folder() == Path("elsewhere")


def test_a_folder_without_data_is_refused_with_the_cure(tmp_path, capsys):
    with pytest.raises(InputError, match=r"holds none of the data sets \(pima/pima\.csv"):
        list(read_data_sets(tmp_path))
    with pytest.raises(SystemExit):
        main(["--data", str(tmp_path / "nowhere"), "--quiet"])
    assert "There is no folder" in capsys.readouterr().err


# Rows that are complete in the columns used, and those columns, as the sets' own notes tell.
SHAPES = {
    ("pima", "continuous"): (768, 8),
    ("adult", "continuous"): (48_842, 6),
    ("boston, above the median", "continuous"): (506, 13),
    ("optdigits, 0 and 1", "continuous"): (1_125, 64),
    ("ionosphere", "continuous"): (351, 34),
    ("liver disorders", "continuous"): (345, 6),
    ("sonar", "continuous"): (208, 60),
    ("adult", "discrete"): (45_222, 8),
    ("promoters", "discrete"): (106, 57),
    ("lymphography", "discrete"): (148, 18),
    ("breast cancer", "discrete"): (277, 9),
    ("lenses", "discrete"): (24, 4),
    ("voting records", "discrete"): (232, 16),
}


@with_shared_data
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: f"{source.name}, {source.kind}")
def test_the_shared_sets_are_read_whole(source):
    data = read_data_set(source, SHARED)
    if (data.name, data.kind) in SHAPES:
        assert data.X.shape == SHAPES[data.name, data.kind]
    assert len(data.X) == len(data.y)
    assert (data.X.dtype.kind == "f") == (data.kind == "continuous")


@pytest.mark.slow
@with_shared_data
def test_logistic_regression_ends_ahead_on_the_votes():
    votes = next(data for data in read_data_sets(SHARED) if data.name == "voting records")
    (result,) = run([votes], repeats=10, progress=False)
    assert result.crossing.discriminative_last > 0.9
