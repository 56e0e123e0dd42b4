"""Marks and case of another text: `alignment` of the two, and what it says of `other_marks`."""
