"""Running a model: from a benchmark's items to a submission, with nothing lost when it breaks."""
