"""The pages of the Space: HTML from templates; every address determines its content, so that it can be linked to."""
