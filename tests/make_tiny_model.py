"""Make tests/tiny_model: a model of a few KB whose outputs a test can compute by hand.

    python tests/make_tiny_model.py [DIRECTORY]

Its logits are sums of table entries for a word's last piece, the pieces next to it, and
the pauses and turns before and after it. So it sees only one piece on each side, and windows
that overlap by a few words must give exactly the same result as a single window.
"""

from __future__ import annotations

import hashlib
import json
import string
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

CASES = ["lower", "capital", "upper", "mixed"]
MARKS = ["", ",", ".", "?", "!", ":", ";", "—", "…"]
BINS = [100, 300, 700]

NAMES = ["london", "anna", "peter"]
STARTERS = ["then", "so", "why", "where", "please", "hello"]
JOINERS = ["and", "but"]
PLAIN = ["the", "a", "cat", "dog", "sat", "went", "home", "to", "is", "was", "here", "i", "we", "it", "said"]
UPPERS = ["nato", "bbc"]
MIXED = ["iphone", "mcdonald"]
SHORTENED = ["dr", "vs"]
WORDS = [*NAMES, *STARTERS, *JOINERS, *PLAIN, *UPPERS, *MIXED, *SHORTENED]


def vocabulary() -> dict[str, int]:
    letters = string.ascii_lowercase + string.digits + "'-."
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, *letters, *("##" + c for c in letters)]
    return {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}


def tokenizer(vocab: dict[str, int]) -> Tokenizer:
    result = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=2000))
    result.normalizer = normalizers.Lowercase()
    result.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return result


def tables(vocab: dict[str, int]) -> dict[str, np.ndarray]:
    """name -> float32 [entries, labels]; `here`, `next` and `previous` are the pieces whose entries are added."""
    size = len(vocab)
    case = {name: np.zeros((size, len(CASES)), np.float32) for name in ("here", "previous")}
    marks = {name: np.zeros((size, len(MARKS)), np.float32) for name in ("here", "next")}
    case["here"][:, 0] = 3
    marks["here"][:, 0] = 3
    for words, column, logit in ((NAMES, 1, 6), (UPPERS, 2, 6), (MIXED, 3, 6), (STARTERS, 1, 2)):
        for word in words:
            case["here"][vocab[word], column] = logit
    case["previous"][vocab["[CLS]"], 1] = 4
    for word in SHORTENED:
        marks["here"][vocab[word], 2] = 5
    marks["here"][vocab["here"], 3] = 1.5
    for word in JOINERS:
        marks["next"][vocab[word], 1] = 5
    for word in STARTERS:
        marks["next"][vocab[word], 2] = 2.5
    marks["next"][vocab["[SEP]"], 2] = 4
    silence = np.zeros((len(BINS) + 2, len(MARKS)), np.float32)
    silence[2, 1], silence[3, 2], silence[4, 2] = 0.5, 2, 4
    silence_before = np.zeros((len(BINS) + 2, len(CASES)), np.float32)
    silence_before[3, 1], silence_before[4, 1] = 1, 3
    turn, turn_before = np.zeros((2, len(MARKS)), np.float32), np.zeros((2, len(CASES)), np.float32)
    turn[1, 2], turn_before[1, 1] = 4, 4
    return {
        "case_here": case["here"],
        "case_previous": case["previous"],
        "marks_here": marks["here"],
        "marks_next": marks["next"],
        "silence": silence,
        "silence_before": silence_before,
        "turn": turn,
        "turn_before": turn_before,
    }


def graph(arrays: dict[str, np.ndarray]) -> onnx.ModelProto:
    nodes: list[onnx.NodeProto] = []

    def node(kind: str, inputs: list[str], output: str, **attributes: object) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def shifted(name: str, to: str) -> str:
        # To the left, each piece sees its successor; to the right, its predecessor. Padded with 0.
        left = to == "left"
        part = node("Slice", [name, "one" if left else "zero", "far" if left else "last", "axis"], f"{name}_{to}_part")
        return node("Pad", [part, "pad_end" if left else "pad_start", "nothing"], f"{name}_{to}")

    def total(output: str, parts: list[tuple[str, str]]) -> None:
        names = [node("Gather", [table, index], f"{table}_of_{index}", axis=0) for table, index in parts]
        node("Sum", names, output)

    before = {name: shifted(name, "right") for name in ("input_ids", "pauses", "turns")}
    after = shifted("input_ids", "left")
    total(
        "case",
        [
            ("case_here", "input_ids"),
            ("case_previous", before["input_ids"]),
            ("silence_before", before["pauses"]),
            ("turn_before", before["turns"]),
        ],
    )
    total(
        "marks",
        [("marks_here", "input_ids"), ("marks_next", after), ("silence", "pauses"), ("turn", "turns")],
    )
    constants = {
        "one": [1], "zero": [0], "far": [2**31], "last": [-1], "axis": [1],
        "pad_end": [0, 0, 0, 1], "pad_start": [0, 1, 0, 0],
    }  # fmt: skip
    initial = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    initial += [numpy_helper.from_array(np.array(values, np.int64), name) for name, values in constants.items()]
    initial.append(numpy_helper.from_array(np.array(0, np.int64), "nothing"))
    shape = ["batch", "pieces"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask", "pauses", "turns")
    ]
    outputs = [
        helper.make_tensor_value_info("case", TensorProto.FLOAT, [*shape, len(CASES)]),
        helper.make_tensor_value_info("marks", TensorProto.FLOAT, [*shape, len(MARKS)]),
    ]
    model = helper.make_model(
        helper.make_graph(nodes, "tiny", inputs, outputs, initial), opset_imports=[helper.make_opsetid("", 17)]
    )
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def make(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    vocab = vocabulary()
    onnx.save(graph(tables(vocab)), str(directory / "model.onnx"))
    tokenizer(vocab).save(str(directory / "tokenizer.json"), pretty=False)
    (directory / "lexicon.txt").write_text("iPhone\nMcDonald\n", encoding="utf-8")
    names = ["model.onnx", "tokenizer.json", "lexicon.txt"]
    config = {
        "name": "tiny", "languages": ["en"], "licence": "CC0-1.0", "cases": CASES, "marks": MARKS,
        "window": 24, "overlap": 8, "min_words_cut": 2, "max_pieces": 64, "pause_bins_ms": BINS,
        "bias": {}, "crf": None, "version": "1",
        "files": {name: hashlib.sha256((directory / name).read_bytes()).hexdigest() for name in names},
    }  # fmt: skip
    text = json.dumps(config, ensure_ascii=False, indent=1)
    (directory / "config.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "tiny_model")
