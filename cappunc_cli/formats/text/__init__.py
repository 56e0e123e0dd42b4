"""The source of a document: where its lines and words are, what a viewer sees of it, and how to edit it in place.

Shared by all formats, JSON included; nothing here is specific to one format.
"""
