"""What each command does, one folder or module each."""
