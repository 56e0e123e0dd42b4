"""The tuned constants of restoration, and what each was chosen on; models/en/NOTES.md has the figures.

Nats are added to a log-probability or to log-odds. "Held-out ends" are the ends of training corpora.
"""

from __future__ import annotations

from math import log

# Options

#: Nats for or against every mark at either end of the sensitivity: e^6 = 400 times.
SENSITIVITY_NATS = 6.0
#: What each style adds to the score of a comma: odds of about 2:1 are needed with light, 1:2 with heavy.
STYLES = {"light": -0.8, "standard": 0.0, "heavy": 0.8}

# What a text lacks (decoding/existing.py): six English, three Spanish and three German texts, whole and damaged

#: The shares that are missing change only before every eighth word, and there with this probability.
STEP, SWITCH = 8, 0.003
#: In a text with bare captions among whole ones: the share of captions that lack marks and case, the share that lack
#: one of the two, the probabilities of a change before each word, and the nats against such a text.
BARE_CAPTIONS, BARE_OF_ONE, PATCHY_SWITCHES, PATCHY_COST = 0.25, 0.03, (0.02, 0.08), 5.0
#: The prior weights of a text that has no marks, or capitals; of one that has all, of each other share, and of nearly
#: all marks; of a text in upper case, and of one that lacks the marks of one kind if it lacks capitals, too. Those of a
#: writer who sets three quarters, half or a quarter of the commas, beside 1 for all.
PRIOR_NONE, PRIOR_ALL, PRIOR_SOME, PRIOR_NEARLY, PRIOR_UPPER, PRIOR_ONE_KIND = 0.2, 1.0, 0.001, 0.05, 0.02, 0.05
PRIOR_FEW = 0.05, 0.1, 0.02
#: That of one in which names are capital, but hardly any sentence begins so.
PRIOR_NAMES = 0.02
#: The shares of marks and of capitals that the model is sure of and that whole texts still lack.
UNSURE_MARKS, UNSURE_CASE = 0.005, 0.08
#: The share of absent marks that may belong although the model is sure of none.
UNPREDICTABLE = 0.08
#: All places beside one word where marks within sentences are expected count as so many at most.
ONE_WORD = 2.0
#: To tell a writer who leaves turns without marks: the probability from which on a sentence end is sure, so that others
#: would not set a comma, the log-likelihood ratio (nats) that tells, and the largest share of turns that is left open.
SURE_END, SURELY_OPEN, MOST_OPEN = 0.8, 2.0, 0.5
#: The share of words in another case in a text in upper case.
STRAY = 0.01
#: How often a turn, and a sentence within a turn, begins in lower case in a text that has case. Where turns go on with
#: a sentence after an interruption it is more often, as the text shows, up to the last.
LOWER_TURN, LOWER_START, MOST_LOWER = 0.1, 0.03, 0.25
#: The minimum probability of a capital after a mark that may or may not end a sentence.
OPEN_START = 0.2
#: The minimum upper-case words amid good text to count as bare, not as a sign, title or shout; and the minimum words
#: of a cue that is more than a name.
MIN_UPPER_WORDS, MIN_LINE = 20, 3
#: A stretch lacks marks or case if more than this share is missing.
LACKING = 0.3

# What the text says (decoding/evidence.py)

#: Nats for a capital inside a line of an otherwise unpunctuated text: it is probably a name.
CAPITAL_WORTH = 2.0
#: Nats against a mark before a word that begins with an ellipsis, and against its capital.
CONTINUED_COST, CONTINUED_CAPITAL_COST = 8.0, 3.0
#: The share of words that end a sentence.
END_SHARE = 0.08
#: Nothing is added where less than FEW is missing. With `keep`, at least the share GAPS counts as missing.
FEW, GAPS = 0.08, 0.135
#: A letter that may be a word of the language is one if its lower case is more probable: Spanish `a, b y c`, but
#: Italian `r e n z i`. Likewise each of the letters before a title: French `il y a m. Dupont`, but Spanish `e e u u.`
SURELY_LOWER, LOWER_BEFORE_TITLE = 0.97, 0.9

# How words are written elsewhere (lexicon.py): the held-out ends of 17 English texts

#: The weights of the lexicon's names, and of the word's other occurrences.
NAMES, AGREEMENT = 0.4, 0.6
#: The weights of the lexicon's forms of a word that was seen once, and very often; the mean of both is that of a word
#: seen so many times: 230 words of `en` that have one form only.
FORMS, SURE_FORMS, HALF_SURE = 0.5, 1.5, 4
#: A word seen this often within sentences has half of the weight of names, and of agreement.
KNOWN_TO_NETWORK, SETTLED = 1000, 2000
#: All words within sentences count as so many words in the counts of each.
SMOOTHING = 2.0
#: The most nats that other occurrences add to a case.
MOST_AGREEMENT = 4.0
#: An occurrence in the text itself counts as so many elsewhere.
WITNESS = 20

# Where captions break (decoding/breaks.py)

#: Prior pseudo-counts, so that a file of few cues changes little, and the steps of the EM algorithm.
PRIOR_COUNT, EM_STEPS = 30, 30
#: Consecutive captions are kept apart by up to six frames; a longer gap (ms) is silence.
SILENCE = 250
#: The power of the factors inside captions: sentence ends in captions of nine held-out ends.
INSIDE = 0.75
#: The power of all factors for a network that reads lines: real talks in Italian and German, films in French, Spanish.
SEEN = 0.5
#: The share of blank lines that come after a sentence end, between turns and between captions.
TURNS, CAPTIONS = 0.97, 0.6
#: The share of turns, and of captions, after which a model that is told of a turn still sees no sentence end.
TURNS_WITHOUT_END, CAPTIONS_WITHOUT_END = 0.05, 0.35
#: The log-likelihood ratio (nats) required for turns: 130 dialogues in ten languages, 168 texts in captions.
MIN_NATS = 1.0
#: The mean probability of a sentence end required before blank lines, if not told of turns; verse has less.
MIN_MEAN = 0.2
#: Probabilities are clipped to this distance from 0 and 1, so that no single break decides.
CLIP = 0.02

# The best reading (decoding/decoder.py)

#: Nats against a mark between two numbers (`3` `14`): it then needs odds of 9:1.
NUMBER_COST = 2.2
#: Nats against a dash: editors accept a comma in place of a dash, but not the reverse. Ten English held-out ends.
DASH_COST = 1.5
#: Nats against a capital after a new comma: `She said, don't`. The same texts.
COMMA_COST = log(4)
#: Above this probability the start of a quotation explains a capital: `She said, don't`, but `He sang Hey Jude`.
#: 21 English held-out ends.
QUOTE_EXPLAINS = 0.5
#: The last word of a text that may go on (`and then we went to the`) needs such a probability of a sentence end, any
#: other the model's `end_share`: 45 texts in six languages, of which half break off.
BREAKS_OFF = 0.01
#: Nats against a turn that ends without a mark or with a continuing one. 52 turns that multi-fast left open.
TURN_COST = 3.0
#: In live captions the word after the committed ones needs this much more probability as a name, in proportion to
#: that of a sentence end which can no longer be added before it: `three reasons First, …`.
LATE_COST = 0.4
#: The minimum probability of a capital in its own right. It bounds what an existing capital says of a sentence end.
MIN_NAME = 0.02
#: The most probability of a wrong mark, and the least of the right one, for `recheck`: results/recheck.json.
WRONG, RIGHT = 0.002, 0.99

# Live captions (live.py)

#: Default look-ahead in words: marks of the development sets, results/stream.json.
LOOK_AHEAD = 8
#: Committed words that are read again as context: 2,500 words of each development set.
CONTEXT = 48
