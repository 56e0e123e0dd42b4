"""`cappunc glossary`: suggest terms for `cappunc fix --glossary`."""
