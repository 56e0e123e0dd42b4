"""The review page, on which an editor checks the doubtful places of a file, with its audio, and decides on them.

`doubts` finds these places; `pages.review_page` shows them as one HTML file (from review.html, .css and .js);
`decisions` applies the editor's decisions to the file; `review_server` serves the page to this machine only.
"""
