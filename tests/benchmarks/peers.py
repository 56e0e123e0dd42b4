"""Speed of cappunc and of the libraries that users would pick instead: one machine, one run.

    pip install 'transformers<5' deepmultilingualpunctuation punctuators sentencepiece onnx torch
    python tests/benchmarks/peers.py --model en-fast --also en --also multi > tests/benchmarks/results/peers.json

Their weights are not needed: speed depends only on sizes, so each runs at its true size with random
weights and its own tokenizer. This compares speed, not quality. The others get plain words, cappunc a file
to read and write, which is to their advantage. About four minutes on two cores; --quick to try it out.

- deepmultilingualpunctuation 1.0.1, its own code: XLM-R-large, chunks of 230 words, 5 shared.
- punctuators 0.0.7, its own code: ONNX, 6 layers of 512, at most 256 pieces, 16 shared.
- BERT-base as NeMo's punctuation model runs it: windows of 64 pieces, step 8, margin 16, batches of 32.
- BERT-base as rpunct runs it: 250 words, 30 shared, batches of 8.
- the CNN-BiLSTM of 7.3 million weights (Edge-Punct-Casing, sherpa-onnx): 200 pieces, none shared, float32 and
  8 bits, one window at a time (as sherpa-onnx does) and 16.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measuring import head, options, print_report, watched
from torch import nn

from cappunc_cli.features.bench import sample_text
from cappunc_cli.features.bench.command import best_of, stages
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.models.network import Encoder
from cappunc_cli.restoration.models.registry import find_model
from cappunc_cli.restoration.models.session import physical_cores
from cappunc_cli.restoration.options import Options

Words = Sequence[str]
#: Words of a talk of a quarter of an hour.
TALK = 2_500


def pace(words: Words, run: Callable[[Words], object], repeats: int = 3) -> float:
    """Words per second of the fastest of some runs."""
    best = float("inf")
    for _ in range(repeats):
        begun = time.perf_counter()
        run(words)
        best = min(best, time.perf_counter() - begun)
    return round(len(words) / best, 2)


def weights(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def exported(network: nn.Module, path: Path, ids: str, outputs: list[str]) -> None:
    """Write a network's graph, which takes any number of rows of any number of pieces."""
    axes = {name: {0: "batch", 1: "pieces"} for name in (ids, *outputs)}
    rows = (torch.ones((2, 200), dtype=torch.long),)
    names: dict[str, Any] = {"input_names": [ids], "output_names": outputs}
    torch.onnx.export(network, rows, str(path), **names, dynamic_axes=axes, dynamo=False)


def deepmultilingual(tokenizer: Path, folder: Path) -> tuple[Callable[[Words], object], int]:
    """The package itself, given a model directory of XLM-R-large's size."""
    from deepmultilingualpunctuation import PunctuationModel
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaForTokenClassification

    config = XLMRobertaConfig(
        vocab_size=250_002,
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
        max_position_embeddings=514,
        type_vocab_size=1,
        num_labels=6,
        id2label=dict(enumerate(["0", ".", ",", "?", "-", ":"])),
    )
    model = XLMRobertaForTokenClassification(config)
    model.save_pretrained(folder, safe_serialization=True)
    count = weights(model)
    del model
    fast = PreTrainedTokenizerFast(
        tokenizer_file=str(tokenizer), unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
    fast.model_max_length = 512
    fast.save_pretrained(folder)
    punctuation = PunctuationModel(str(folder))
    return lambda words: punctuation.restore_punctuation(" ".join(words)), count


class Encoder6(nn.Module):
    """pcs_en's graph: ids to predictions of marks before and after, capitals by character, sentence ends."""

    def __init__(self) -> None:
        from transformers import BertConfig, BertModel

        super().__init__()
        config = BertConfig(
            vocab_size=32_000,
            hidden_size=512,
            num_hidden_layers=6,
            num_attention_heads=8,
            intermediate_size=2048,
            max_position_embeddings=256,
        )
        config._attn_implementation = "eager"
        self.bert = BertModel(config, add_pooling_layer=False)
        self.heads = nn.ModuleList(nn.Linear(512, size) for size in (2, 6, 16, 2))

    def forward(self, input_ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = self.bert(input_ids, attention_mask=(input_ids != 0).long()).last_hidden_state
        pre, post, capitals, ends = (head(x) for head in self.heads)
        return pre.argmax(-1), post.argmax(-1), capitals > 0, ends.argmax(-1) > 0


def punctuators(words: Words, folder: Path) -> tuple[Callable[[Words], object], int]:
    """The package itself, given a directory with a graph of pcs_en's size."""
    import sentencepiece
    from punctuators.models.punc_cap_seg_model import PunctCapSegConfigONNX, PunctCapSegModelONNX

    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join(" ".join(words[i : i + 20]) for i in range(0, len(words), 20)), "utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(folder / "sp"), vocab_size=8000, pad_id=0, unk_id=1, bos_id=2, eos_id=3,
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    network = Encoder6().eval()
    exported(network, folder / "model.onnx", "input_ids", ["pre", "post", "capitals", "ends"])
    lists = {"pre_labels": ["<NULL>", "¿"], "post_labels": ["<NULL>", ".", ",", "?", "<ACRONYM>", ":"]}
    lines = [f"{name}: {json.dumps(labels)}" for name, labels in lists.items()]
    (folder / "config.yaml").write_text("\n".join(["max_length: 256", "languages: [en]", *lines]), "utf-8")
    found = PunctCapSegModelONNX(PunctCapSegConfigONNX(directory=str(folder)), ort_providers=["CPUExecutionProvider"])
    return lambda words: found.infer([" ".join(words)]), weights(network)


def bert(ids: Callable[[Words], np.ndarray]) -> tuple[Callable[[Words], object], Callable[[Words], object], int]:
    """BERT-base with NeMo's windows, with rpunct's windows, and its size."""
    from transformers import BertConfig, BertForTokenClassification

    model = BertForTokenClassification(BertConfig(num_labels=14)).eval()

    def batches(windows: list[np.ndarray], size: int) -> None:
        for start in range(0, len(windows), size):
            some = windows[start : start + size]
            width = max(map(len, some))
            padded = np.zeros((len(some), width), np.int64)
            for row, window in enumerate(some):
                padded[row, : len(window)] = window
            with torch.inference_mode():
                model(torch.from_numpy(padded), attention_mask=torch.from_numpy((padded > 0).astype(np.int64)))

    def nemo(words: Words) -> None:
        pieces, length, step = ids(words), 64 - 2, 8
        batches([pieces[i : i + length] for i in range(0, max(len(pieces) - length, 0) + step, step)], 32)

    def rpunct(words: Words) -> None:
        batches([ids(words[i : i + 250])[:512] for i in range(0, len(words), 250 - 30)], 8)

    return nemo, rpunct, weights(model)


class CnnBiLstm(nn.Module):
    """Edge-Punct-Casing: embedding, three convolutions, two bidirectional LSTMs and one forward, two heads."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(5000, 100)
        self.convolutions = nn.ModuleList(nn.Conv1d(100, 100, 3, padding=1) for _ in range(3))
        self.both = nn.LSTM(100, 384, 2, bidirectional=True, batch_first=True)
        self.forth = nn.LSTM(768, 384, batch_first=True)
        self.case, self.marks = nn.Linear(384, 4), nn.Linear(384, 4)

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.words(ids).transpose(1, 2)
        for convolution in self.convolutions:
            x = torch.relu(convolution(x))
        x, _ = self.both(x.transpose(1, 2))
        x, _ = self.forth(x)
        return self.case(x), self.marks(x)


def cnn_bilstm(ids: Callable[[Words], np.ndarray], folder: Path) -> tuple[dict[str, Callable[[Words], object]], int]:
    """Runs of the graph by onnxruntime: float32 and 8 bits, one window or 16 at a time."""
    import onnxruntime
    from onnxruntime.quantization import QuantType, quantize_dynamic

    network = CnnBiLstm().eval()
    exact, small = folder / "float32.onnx", folder / "int8.onnx"
    exported(network, exact, "ids", ["case", "marks"])
    quantize_dynamic(exact, small, weight_type=QuantType.QInt8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = physical_cores()

    def runs(session: Any, size: int) -> Callable[[Words], None]:
        def run(words: Words) -> None:
            pieces = ids(words) % 5000
            padded = np.zeros((-(-len(pieces) // 200), 200), np.int64)
            padded.reshape(-1)[: len(pieces)] = pieces
            for start in range(0, len(padded), size):
                session.run(None, {"ids": padded[start : start + size]})

        return run

    found = {}
    for kind, path in (("float32", exact), ("int8", small)):
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        for size in (1, 16):
            found[f"CNN-BiLSTM 7.3M, {kind}, {size} at a time"] = runs(session, size)
    return found, weights(network)


def cappunc(directory: Path, words: Words) -> Iterator[tuple[str, float, int]]:
    """(what, words per second, words) for both inputs, from bytes to bytes."""
    model = load_model(str(directory), "cpu")
    drawn = list(words)
    for name, data in (("SRT", sample_text.srt(drawn)), ("word-timed JSON", sample_text.whisper_json(drawn))):
        count, seconds = best_of(
            3, lambda data=data, name=name: stages(data.encode(), f"talk.{name[-4:].lower()}", model, Options())
        )
        yield f"cappunc, {name} to {name}", round(count / sum(seconds.values()), 2), count


def cold_start(model: str, words: Words) -> float:
    """Seconds of `cappunc fix` for one file, from the command to its end: the fastest of five processes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "talk.srt")
        path.write_text(sample_text.srt(list(words)), encoding="utf-8")
        command = ("fix", str(path), "-o", os.devnull, "--force", "--quiet", "--model", model)
        return min(watched(*command)["seconds"] for _ in range(5))


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--also", action="append", default=[], metavar="MODEL", help="another model of ours")
    arguments = parser.parse_args()
    less = 8 if arguments.quick else 1
    repeats = 1 if arguments.quick else 2
    torch.set_num_threads(physical_cores())
    directory = find_model(arguments.model)
    words = sample_text.sample_words(directory, 40_000 // less)
    model = load_model(str(directory), "cpu")
    encoder = Encoder(directory, model.config)

    def ids(some: Words) -> np.ndarray:
        return encoder.encode(some, [None] * len(some), [False] * len(some)).ids

    rows: list[dict[str, Any]] = []

    def row(name: str, speed: float, count: int, size: int | None) -> None:
        rows.append({"system": name, "words_per_second": speed, "words": count, "weights": size})
        print(f"{name}: {speed:,.1f} words/s", file=sys.stderr, flush=True)

    for name, speed, count in cappunc(directory, words):
        row(name, speed, count, None)
    for other in arguments.also:
        for title, speed, count in cappunc(find_model(other), words[: 10_000 // less]):
            row(title.replace("cappunc", f"cappunc {other}"), speed, count, None)
    starts = {name: cold_start(name, words[:TALK]) for name in (arguments.model, *arguments.also)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.only in "CNN-BiLSTM":
            found, size = cnn_bilstm(ids, folder)
            for title, run in found.items():
                some = words[: 20_000 // less]
                row(title, pace(some, run, repeats), len(some), size)
        if arguments.only in "punctuators":
            run, size = punctuators(words, folder)
            some = words[: 6_000 // less]
            row(f"punctuators {version('punctuators')}, 6 x 512", pace(some, run, repeats), len(some), size)
        if arguments.only in "BERT-base":
            nemo, rpunct, size = bert(ids)
            some = words[: 2_000 // less]
            row("BERT-base, rpunct's windows", pace(some, rpunct, repeats), len(some), size)
            some = words[: 500 // less]
            row("BERT-base, NeMo's windows", pace(some, nemo, repeats), len(some), size)
        if arguments.only in "deepmultilingualpunctuation":
            run, size = deepmultilingual(directory / "tokenizer.json", folder / "large")
            some = words[: 680 // less]
            title = f"deepmultilingualpunctuation {version('deepmultilingualpunctuation')}, XLM-R-large"
            row(title, pace(some, run, repeats), len(some), size)
    packages = {package: version(package) for package in ("torch", "transformers")}
    top = head()
    report = {
        **top,
        "versions": {**top["versions"], **packages},
        "model": {"name": model.config.name, "sha256": model.config.files.get("model.onnx")},
        "systems": rows,
        "talk": {"words": TALK, "seconds": starts},
    }
    print_report(report)


if __name__ == "__main__":
    main()
