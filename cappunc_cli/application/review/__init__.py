"""The page on which an editor decides: what is doubtful in a file, beside its sound, and what was decided, written.

`page_data` says what the page shows, `page` makes one file of it (review.html, .css and .js), `decisions` puts what
was decided into the file, `review_server` serves the page to this machine alone.
"""
