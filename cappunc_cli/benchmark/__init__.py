"""How fast a model runs on this machine: input text, measurement, hardware, report."""
