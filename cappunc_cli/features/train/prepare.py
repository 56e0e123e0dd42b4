"""Turn the corpora of a recipe into arrays in its `arrays` folder: streams, vocabulary, tokenizer, lexicon."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from cappunc_cli.document.labels import strip
from cappunc_cli.features.train.corpora import Corpus
from cappunc_cli.features.train.dataset import GLUE, TokenStream, Types, build_vocabulary, case_lexicon, read_stream
from cappunc_cli.features.train.recipe import Recipe
from cappunc_cli.languages import language

logger = logging.getLogger(__name__)

#: Words from which a vocabulary is learnt.
_LEARNT = 4_000_000


def spelling(codes: Sequence[str]) -> normalizers.Normalizer:
    """A normaliser: NFC, lower case, and one code point per letter of these languages."""
    letters = {other: letter for code in codes for other, letter in language(code).letters.items()}
    replaced = [normalizers.Replace(other, letter) for other, letter in letters.items()]
    return normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase(), *replaced])


def learn(types: Types, streams: dict[str, TokenStream], recipe: Recipe) -> Tokenizer:
    """Learn a WordPiece vocabulary from the bare words: lower case, accents kept, NFC.

    Reads _LEARNT words in all, from each corpus in proportion to its share of the windows.
    """
    written = list(types)
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = spelling(recipe.decoding["languages"])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=recipe.vocabulary,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        limit_alphabet=300,
        show_progress=False,
    )
    total = sum(recipe.corpora.values())

    def texts() -> Iterator[str]:
        for name, share in recipe.corpora.items():
            stop = min(len(streams[name].types), int(_LEARNT * share / total))
            for start in range(0, stop, 10_000):
                some = streams[name].types[start : min(stop, start + 10_000)].tolist()
                yield " ".join(strip(written[number].replace(GLUE, " "))[0] for number in some)

    tokenizer.train_from_iterator(texts(), trainer)
    return tokenizer


def prepare(recipe: Recipe, corpora: Mapping[str, Corpus]) -> list[str]:
    """Write one stream per corpus, the vocabulary and the mixed-case lexicon; returns the bare word of each type."""
    folder = recipe.arrays()
    folder.mkdir(parents=True, exist_ok=True)
    types = Types()
    streams: dict[str, TokenStream] = {}
    for name in recipe.texts():
        began = time.monotonic()
        streams[name] = read_stream(corpora[name], recipe.data, types)
        logger.info("%s: %s words in %.0f s", name, f"{len(streams[name].types):,}", time.monotonic() - began)
    if not recipe.tokenizer.exists():
        recipe.tokenizer.parent.mkdir(parents=True, exist_ok=True)
        learn(types, streams, recipe).save(str(recipe.tokenizer))
    tokenizer = Tokenizer.from_file(str(recipe.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    vocabulary, bares = build_vocabulary(types, tokenizer)
    is_word = np.array([bool(bare) for bare in bares])
    counts = np.zeros(len(types), np.int64)
    for name, stream in streams.items():
        keep = is_word[stream.types]
        kept = TokenStream(stream.types[keep], stream.pauses[keep], stream.turn_ends[keep], stream.document_ends[keep])
        (folder / name).parent.mkdir(exist_ok=True)
        kept.save(folder / f"{name}.npz")
        if name in recipe.corpora:
            counts += np.bincount(kept.types, minlength=len(types))
    vocabulary.save(folder / "vocabulary.npz")
    (folder / "lexicon.txt").write_text("\n".join(case_lexicon(types, counts)) + "\n", "utf-8")
    logger.info("%s written words, %s in all", f"{len(types):,}", f"{counts.sum():,}")
    return bares
