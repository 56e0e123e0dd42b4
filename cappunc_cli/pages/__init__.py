"""HTML pages in one style: `html_page` has the frame of every page, `review_page` the page for editors."""
