"""Words to labels to words: chunks, the model, decoding; `pipeline.py` shows the flow on one screen."""
