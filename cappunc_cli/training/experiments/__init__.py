"""For maintainers: ablations, studies, thresholds, and the cards that tell of them.

Nothing else imports it, and the wheel leaves it out.
"""
