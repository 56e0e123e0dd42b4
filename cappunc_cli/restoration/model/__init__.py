"""From words to probabilities: where models lie, what their config says, and the ONNX engine that runs one.

Only here are onnxruntime, tokenizers and onnx known; nothing here knows what a probability is used for.
"""
