"""Files of format 1 load in every later version, with the same tally and predictions."""

import warnings

import numpy as np
import pytest

import suffice
from golden_store import added, difference, differences, renamed
from saved_format_1_cases import CASES
from saved_format_1_manifest import FOLDER, answered, learned, path_of, read, unpacked

MANIFEST = read()
REFITTED = 1e-9
# Files whose prior is chosen in another way since (docs/decisions, 027). Their tally is the same to
# the bit, and answers are those of a new fit on that tally. A calibration in the file is that of
# the scores of then, and is refreshed first.
PRIOR_CHANGED = {
    "gaussian_nb_predictive_tied",
    "bernoulli_nb_evidence_calibrated_rows",
    "multinomial_nb_polya",
    "poisson_nb",
    "poisson_nb_evidence",
    "gaussian_discriminant_spherical_calibrated",
}
each_file = pytest.mark.parametrize("name", list(MANIFEST))
pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")


def loaded(name):
    return suffice.load(path_of(name), **MANIFEST[name]["load"])


def refreshed(name):
    """Return the loaded model, calibrated by today's scores if its prior is another today."""
    model, case = loaded(name), CASES[name]
    if name in PRIOR_CHANGED and hasattr(model, "calibration_"):
        model.refresh_calibration(case.rows, case.labels)
    return model


# Classes that came after the files, and are saved in tests of their own.
LATER = {"LearnedHinge"}


def expected(name, what):
    return {renamed(key): value for key, value in unpacked(MANIFEST[name][what]).items()}


def apart(name, found, due, tolerance):
    """Return a line for each value that differs by more than its tolerance."""
    assert found.keys() == due.keys(), name
    message = {key: difference(np.asarray(due[key]), found[key], tolerance) for key in due}
    return [f"{name}: {key} {line}" for key, line in message.items() if line]


def test_every_file_is_in_the_manifest_and_every_case_has_one():
    files = {path.stem for path in FOLDER.glob("*.safetensors")}
    assert files == set(MANIFEST) == set(CASES)


def test_every_class_that_can_be_saved_has_a_file():
    kinds = [getattr(suffice, name) for name in suffice.__all__ if name[0].isupper()]
    savable = {kind.__name__ for kind in kinds if hasattr(kind, "save")}
    assert savable - LATER == {entry["class"] for entry in MANIFEST.values()}


@each_file
def test_a_file_is_described_as_it_was_saved(name):
    record = suffice.persist.describe(path_of(name))
    assert (record.model, record.source) == (MANIFEST[name]["class"], name)


@each_file
def test_a_loaded_model_holds_what_was_learned_to_the_bit(name):
    model = loaded(name)
    assert type(model).__name__ == MANIFEST[name]["class"]
    found, due = learned(model), expected(name, "learned")
    assert {key for key in found if key in due or not added(key)} == due.keys()
    for key in due:
        np.testing.assert_array_equal(np.asarray(found[key]), due[key], err_msg=f"{name}: {key}")


@pytest.mark.parametrize("name", sorted(set(MANIFEST) - PRIOR_CHANGED))
def test_a_loaded_model_predicts_as_it_did_when_it_was_saved(name):
    found = answered(loaded(name), CASES[name].new)
    wrong = differences(name, expected(name, "answers"), found)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@each_file
def test_a_loaded_model_predicts_as_one_that_is_fitted_today(name):
    case = CASES[name]
    found, due = (answered(model, case.new) for model in (refreshed(name), case.trained()))
    wrong = apart(name, found, due, REFITTED)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@each_file
def test_a_loaded_model_goes_on_learning_and_is_saved_again(name, tmp_path):
    case, path = CASES[name], tmp_path / "again.safetensors"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", suffice.errors.SufficeWarning)
        model = case.learned_on(refreshed(name))
        model.save(path, **MANIFEST[name]["save"])
    found = answered(model, case.new)
    again = answered(suffice.load(path, **case.load), case.new)
    wrong = apart(name, again, {key: np.asarray(value) for key, value in found.items()}, 0.0)
    # A stream that was saved holds the families it had decided; one that goes on decides again.
    if "stream" not in name:
        wrong += apart(name, found, answered(case.learned_on(case.trained()), case.new), REFITTED)
    assert not wrong, "\n".join(wrong)


def test_the_old_name_of_residual_coefficients_means_the_new_one():
    model = loaded("table_corrected")
    assert (model.combine, model.combination_.method) == ("residual", "residual")
    with pytest.raises(ValueError, match="combine"):
        model.set_params(combine="corrected").fit([[0.0], [1.0]], [0, 1])
