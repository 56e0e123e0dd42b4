"""Measure the speed of a model on this machine: sample text, timing, hardware, report.

For `cappunc bench` and for the hardware descriptions in result files. Quality is measured by `evaluation`.
"""
