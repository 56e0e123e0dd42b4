"""From a checkpoint to a model directory: the ONNX graph, its weights, 8-bit products.

What changes the file that is shipped comes here; what changes the network does not.
"""
