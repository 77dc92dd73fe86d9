"""The dataset iris_ideal_52."""
