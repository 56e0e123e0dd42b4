"""For maintainers: ablations, studies, thresholds, and the model cards that report them.

Nothing else imports it, and the wheel does not contain it.
"""
