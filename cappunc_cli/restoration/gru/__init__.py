"""The recurrent engine of live captions: a state that goes on from word to word.

An engine as the ONNX one is, and one that many streams share (`restoration.live_gru`).
"""
