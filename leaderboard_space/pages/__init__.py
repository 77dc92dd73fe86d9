"""The pages of the Space: HTML from templates, each address with all that it shows, so that any can be linked to."""
