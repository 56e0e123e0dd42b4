"""`cappunc serve`: the work of `fix` and `check` over HTTP, live words, and the protocol of LanguageTool."""
