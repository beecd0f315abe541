"""Documents are cut and scored in the default ways where there is no scikit-learn."""

import subprocess
import sys

SCRIPT = """
import sys
sys.modules["sklearn"] = None  # an import of it fails
import numpy as np
from suffice.data.rows import Rows
from suffice.scoring.scorer import log_proba
from suffice.tally import Groups
from suffice.text.family import Text
from suffice.text.classify.document_model import DocumentModel
from suffice.text.classify.explanation import explain_terms
from suffice.text.classify.length_discount import LengthDiscount
from suffice.text.classify.refinement import Refinement
from suffice.text.classify.term_counter import TermCounter
from suffice.text.classify.explanation import TermProbabilities
from suffice.text.vectorize.analyzer import WordAnalyzer
from suffice.text.vectorize.vocabulary import Vocabulary

mails, codes = ["cheap pills", "lunch at noon", "cheap watches"], np.array([1, 0, 1], np.int32)
counter, matrix = TermCounter(WordAnalyzer(), Vocabulary.empty()).learn(mails)
tally = Groups(["ham", "spam"], *counter.count(Rows(matrix, codes, 2)))
model = DocumentModel.of(counter, tally, "evidence")
rows = model.prepare(counter.read(["cheap lunch pills"]))
print(log_proba(model.scorer(), rows, np.log([0.5, 0.5])).argmax())
"""


def test_documents_are_cut_and_scored_without_scikit_learn():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1"
