"""The reading side: every public page is a file of one folder, which a builder writes and the web process sends."""
