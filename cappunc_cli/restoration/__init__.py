"""Words to labels to words: chunks, the model, decoding; `pipeline.py` shows the flow on one screen.

`model`, `ngram` and `gru` give probabilities, `decoding` makes labels of them; here is what joins the two, for one
text, for many, and for words that keep coming. Nothing here knows a file or a format.
"""
