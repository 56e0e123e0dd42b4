"""Names in a model's graph: inputs, outputs and operator domains."""

from __future__ import annotations

MASK = "attention_mask"
INPUTS = ("input_ids", MASK, "pauses", "turns")
#: Optional input [batch, words]: the pieces to compute outputs for, as indices into the flattened batch.
WANTED = "wanted"
OUTPUTS = ("case", "marks")
#: The third output of a model that restores paired marks.
AROUND = "around"
#: The relative position bias added to attention scores, [1, heads, pieces, pieces], of encoders that have one.
POSITION_BIAS = "position_bias"
#: The domain of onnxruntime's own operators.
MICROSOFT = "com.microsoft"
