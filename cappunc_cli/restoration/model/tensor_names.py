"""Names in a model's graph: what goes in, what comes out, and whose operators the nodes are."""

from __future__ import annotations

MASK = "attention_mask"
INPUTS = ("input_ids", MASK, "pauses", "turns")
#: Of some graphs: the pieces, counted through the batch but each in its row, that outputs are wanted for.
#: [batch, words]
WANTED = "wanted"
OUTPUTS = ("case", "marks")
#: The third output of a model whose config names marks around the word.
AROUND = "around"
#: What the distance from query to key adds to the scores of attention, [1, heads, pieces, pieces], of encoders that
#: have such a bias.
POSITION_BIAS = "position_bias"
#: The domain of the run-time's own operators.
MICROSOFT = "com.microsoft"
