"""`cappunc fix`: restore punctuation and case in files."""
