"""Pages in one style: `html_page` has the frame of all, `review_page` is for editors; `csv_table` writes CSV."""
