"""Words changed where a user asks for it: spoken numbers in digits, apostrophes that were left out.

The only room that changes words. It takes a text that is restored, and proves that the listed words alone differ.
"""
