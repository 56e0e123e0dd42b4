"""How fast a model runs on this machine: input text, measurement, hardware, report.

For `cappunc bench` and for what result files say of the machine. Scores are in `evaluation`.
"""
