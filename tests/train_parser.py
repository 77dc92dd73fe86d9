"""Train the embedded English pipeline from the UD English EWT treebank.

`python -m tests.train_parser UD_English-EWT OUT` reads the treebank's three gzipped CoNLL-U files (CC BY-SA 4.0),
trains the pipeline of `submissions/benchmarks/genres/parser/config.cfg` (tagger, morphologizer, dependency parser,
lemmatizer; no word vectors) and writes it with its accuracy on the test part.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

CONFIG = Path(__file__).parents[1] / "submissions" / "benchmarks" / "genres" / "parser" / "config.cfg"
PARTS = {"train": "en_ewt-ud-train.conllu.gz", "dev": "en_ewt-ud-dev.conllu.gz", "test": "en_ewt-ud-test.conllu.gz"}
SENTENCES_PER_DOC = 10
"""Sentences joined to one training text, so that the parser learns where a sentence ends."""


class Word(NamedTuple):
    """A syntactic word of the treebank; `head` is its index in the sentence, `space` a blank after it."""

    form: str
    lemma: str
    pos: str
    tag: str
    morph: str
    head: int
    dep: str
    space: bool


def read_sentences(path: Path) -> Iterator[tuple[bool, list[Word]]]:
    """Yield (starts a new document, words) per sentence of a gzipped CoNLL-U file.

    The parts of a multiword token have no blanks if they spell it out ("do" + "n't"), else blanks. Empty nodes of the
    enhanced graph are left out.
    """
    new_doc, rows = False, []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# newdoc"):
                new_doc = True
            elif line.strip() and not line.startswith("#"):
                rows.append(line.rstrip("\n").split("\t"))
            elif not line.strip() and rows:
                yield new_doc, _words(rows)
                new_doc, rows = False, []
    if rows:
        yield new_doc, _words(rows)


def _words(rows: list[list[str]]) -> list[Word]:
    singles = [row for row in rows if row[0].isdigit()]
    space = {row[0]: "SpaceAfter=No" not in row[9] for row in singles}
    for row in rows:
        if "-" not in row[0]:
            continue
        first, last = map(int, row[0].split("-"))
        parts = [str(i) for i in range(first, last + 1)]
        spelled = "".join(r[1] for r in singles if r[0] in parts) == row[1]
        for part in parts:
            space[part] = not spelled
        space[parts[-1]] = "SpaceAfter=No" not in row[9]
    words = []
    for index, (number, form, lemma, pos, tag, morph, head, dep, _, _) in enumerate(singles):
        target = int(head) - 1 if head != "0" else index
        label = "ROOT" if head == "0" else dep
        words.append(Word(form, lemma, pos, tag, "" if morph == "_" else morph, target, label, space[number]))
    return words


def documents(path: Path, vocab: Vocab) -> Iterator[Doc]:
    held: list[list[Word]] = []
    for new_doc, words in read_sentences(path):
        if held and (new_doc or len(held) == SENTENCES_PER_DOC):
            yield _document(held, vocab)
            held = []
        held.append(words)
    if held:
        yield _document(held, vocab)


def _document(sentences: list[list[Word]], vocab: Vocab) -> Doc:
    from spacy.tokens import Doc

    words = [word for sentence in sentences for word in sentence]
    starts = np.cumsum([0, *map(len, sentences)]).tolist()
    heads = [start + word.head for start, sentence in zip(starts, sentences, strict=False) for word in sentence]
    forms, lemmas, pos, tags, morphs, _, deps, spaces = map(list, zip(*words, strict=True))
    return Doc(
        vocab, words=forms, spaces=spaces, lemmas=lemmas, pos=pos, tags=tags, morphs=morphs, heads=heads, deps=deps
    )


def train(source: Path, out: Path) -> dict[str, float]:
    """Train the pipeline into `out`; return its scores on raw test text. FileNotFoundError: a missing treebank file."""
    import spacy
    from spacy.cli.train import train as spacy_train
    from spacy.tokens import DocBin

    for name in PARTS.values():
        if not (source / name).is_file():
            raise FileNotFoundError(
                f"{source / name} is missing. Get UD_English-EWT from universaldependencies.org, gzip its three "
                f"CoNLL-U files and name their folder."
            )
    with tempfile.TemporaryDirectory() as scratch:
        for part in ("train", "dev"):
            docs = documents(source / PARTS[part], spacy.blank("en").vocab)
            DocBin(docs=docs, store_user_data=False).to_disk(Path(scratch) / f"{part}.spacy")
        overrides = {"paths.train": f"{scratch}/train.spacy", "paths.dev": f"{scratch}/dev.spacy"}
        spacy_train(CONFIG, Path(scratch) / "trained", overrides=overrides)
        return ship(Path(scratch) / "trained" / "model-best", source / PARTS["test"], out)


def ship(trained: Path, test: Path, out: Path) -> dict[str, float]:
    """Write a trained pipeline to `out` with its test scores, without the paths of its training."""
    import spacy
    from spacy.training import Example

    nlp = spacy.load(trained)
    gold = list(documents(test, nlp.vocab))
    scores = nlp.evaluate([Example(nlp.make_doc(doc.text), doc) for doc in gold])
    kept = {key: round(float(scores[key]), 4) for key in ("tag_acc", "pos_acc", "lemma_acc", "dep_uas", "dep_las")}
    kept["sents_f"] = round(float(scores["sents_f"]), 4)
    kept["nsubj_f"] = round(float(scores["dep_las_per_type"]["nsubj"]["f"]), 4)
    nlp.meta |= {"name": "ewt_small", "version": "1.0.0", "license": "CC BY-SA 4.0", "performance": kept}
    nlp.config["paths"] = dict.fromkeys(nlp.config["paths"])
    shutil.rmtree(out, ignore_errors=True)
    nlp.to_disk(out)
    return kept


if __name__ == "__main__":
    print(json.dumps(train(*map(Path, sys.argv[1:])), indent=1))
