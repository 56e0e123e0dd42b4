"""The recurrent engine of live captions, whose state is carried from word to word.

It has the interface of the ONNX engine, and one by which many streams share it (`restoration.live_gru`).
"""
