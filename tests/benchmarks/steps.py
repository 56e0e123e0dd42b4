"""What each step towards the CPU's 8-bit products costs in F1 and gains in time: one row per model directory.

    python tests/benchmarks/steps.py NAME=DIRECTORY… --data ../shared/data > tests/benchmarks/results/steps.json

Older files of a model are in the history (`git show COMMIT:models/en/model.onnx`). Times are processor time, user
and system together, of one thread, from SRT to SRT; the models take turns and each row is its best turn, so that
other work on the machine hardly counts. The last model is also timed with the kernels of an x86 without VNNI.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from measuring import digest, head, options_with_data, print_report

from cappunc_cli import read, restore, write
from cappunc_cli.features.bench import sample_text
from cappunc_cli.restoration.models import session
from cappunc_cli.restoration.models.network import OnnxEngine
from cappunc_cli.restoration.models.registry import ModelConfig
from cappunc_cli.restoration.pipeline import Model, load_model
from models.lab.score import evaluate

SETS = {"IWSLT Ref": "iwslt/test2011", "IWSLT ASR": "iwslt/test2011asr"}
SLOW = "the same without VNNI"


class Counting:
    """A session that counts the pieces that it reads and the processor time that it takes (s)."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.pieces, self.seconds = 0, 0.0

    def run(self, outputs: Any, feeds: Any) -> Any:
        begun = time.process_time()
        found = self._session.run(outputs, feeds)
        self.seconds += time.process_time() - begun
        self.pieces += feeds["input_ids"].size
        return found


def opened(directory: Path) -> tuple[Model, Counting]:
    """The model on one thread of the CPU."""
    model = load_model(str(directory), "cpu")
    engine = OnnxEngine(directory, "cpu", lanes=1)
    engine.session = counting = Counting(session.load_graph(directory / "model.onnx"))
    return replace(model, engine=engine), counting


def turn(model: Model, counting: Counting, source: str) -> tuple[float, float]:
    """Microseconds of processor time: of a piece in the graph, of a word from SRT to SRT."""
    counting.pieces, counting.seconds = 0, 0.0
    begun = time.process_time()
    document = read(source, "talk.srt")
    write(document, restore(document.words, model))
    whole = time.process_time() - begun
    return 1e6 * counting.seconds / counting.pieces, 1e6 * whole / len(document.words)


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("models", nargs="+", metavar="NAME=DIRECTORY")
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=4)
    arguments = parser.parse_args()
    directories = {name: Path(path) for name, path in (model.split("=", 1) for model in arguments.models)}
    last = list(directories.values())[-1]
    ready = {name: opened(directory) for name, directory in directories.items()}
    saturates, session._saturates = session._saturates, lambda: True  # type: ignore[assignment]
    ready[SLOW] = opened(last)
    session._saturates = saturates
    source = sample_text.srt(sample_text.sample_words(last, arguments.words))
    times = [{name: turn(*pair, source) for name, pair in ready.items()} for _ in range(arguments.turns)]
    rows: dict[str, Any] = {}
    for name in ready:
        piece, word = (min(each[name][i] for each in times) for i in range(2))
        rows[name] = {"microseconds_per_piece": round(piece, 1), "microseconds_per_word": round(word, 1)}
    for name, directory in directories.items():
        rows[name]["sha256"] = ModelConfig.load(directory).files["model.onnx"]
        for title, reference in SETS.items():
            found = evaluate(directory, arguments.data, reference, [])
            rows[name][title] = {key: found[key] for key in ("command", "micro", "macro", "signature")}
    report = {
        **head(command="python tests/benchmarks/steps.py NAME=DIRECTORY… --data $DATA"),
        "model": f"en@{digest(ModelConfig.load(last))}",
        "words": arguments.words,
        "rows": rows,
    }
    print_report(report)


if __name__ == "__main__":
    main()
