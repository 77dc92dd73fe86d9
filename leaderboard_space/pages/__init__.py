"""The pages of the Space: HTML from templates; an address determines the content, so it can be linked to."""
