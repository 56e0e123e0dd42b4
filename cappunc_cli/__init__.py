"""Give punctuation and case back to timed transcripts, and touch nothing else."""

__version__ = "0.1.0"
