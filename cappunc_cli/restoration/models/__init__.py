"""From words to probabilities: the registry of models, their configs, and the engines that run them.

At run time only this package uses onnxruntime, tokenizers and onnx; it does not know what the probabilities are for.
"""
