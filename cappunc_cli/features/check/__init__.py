"""`cappunc check`: list what files lack, or the faults of captions."""
