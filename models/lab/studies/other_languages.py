"""What `cappunc fix --lang xx --model multi` gives a language that the model was not trained on.

    python -m models.lab.studies.other_languages --samples ../shared/samples > other_languages.json

Real subtitles of one film or talk in each language are stripped of their marks and capitals, restored and scored by
`cappunc eval`, with their times and without. One text a language is an impression, not a benchmark.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from cappunc_cli.restoration.models.registry import ModelConfig, find_model
from tests.benchmarks.measuring import head, identity, print_report

MODEL = "multi"
#: Language -> its subtitles below the samples. Scripts other than the Latin one are there to see what is lost.
SUBTITLES = {
    "cs": "vtt/SubtitleEdit__subtitleedit__tests_libse_Files_sample_WebVTT_AppleTV.webvtt",
    "tr": "srt/3b1b__captions__2016_span_turkish_community.srt",
    "ru": "srt/SubtitleEdit__subtitleedit__tests_libse_Files_auto_detect_Russian.srt",
    "he": "srt/3b1b__captions__2016_nonsquare-matrices_hebrew_community.srt",
    "ko": "srt/3b1b__captions__2018_sphere-area_korean_community.srt",
}
METRICS = ("micro", "boundary", "case")


def evaluation(code: str, subtitles: Path, *arguments: str) -> dict[str, Any]:
    """The words of a reference, and the F1 of each of METRICS; that of case is missing where the script has none."""
    command = [sys.executable, "-m", "cappunc_cli", "eval", "--json", "--model", MODEL, "--lang", code]
    done = subprocess.run([*command, "--ref", str(subtitles), *arguments], stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout)
    scores = {name: round(report["scores"][name]["f1"], 4) for name in METRICS if name in report["scores"]}
    return {"words": report["words"]["reference"], **scores}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=Path, required=True, help="the folder of the samples")
    samples = parser.parse_args().samples
    rows = {
        code: {
            "times": evaluation(code, samples / name),
            "no times": evaluation(code, samples / name, "--no-pauses"),
        }
        for code, name in SUBTITLES.items()
    }
    model = identity(ModelConfig.load(find_model(MODEL)))
    command = "python -m models.lab.studies.other_languages --samples $SAMPLES"
    print_report({**head(command=command), "model": model, "rows": rows})


if __name__ == "__main__":
    main()
