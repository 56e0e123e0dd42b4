"""From words to probabilities: the model registry, model configs, and the ONNX engine.

At run time only this package uses onnxruntime, tokenizers and onnx; it does not know what the probabilities are for.
"""
