"""Change the spelling of words at the user's request: write spoken numbers in digits, add missing apostrophes.

This is the only package that changes words. It works on restored text and verifies that nothing but the listed words
has changed.
"""
