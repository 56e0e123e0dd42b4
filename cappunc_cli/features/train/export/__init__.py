"""From a checkpoint to a model directory: the ONNX graph, its weights, quantisation.

Changes of the shipped file go here, changes of the network do not.
"""
