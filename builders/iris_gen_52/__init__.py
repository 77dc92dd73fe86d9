"""The dataset iris_gen_52."""
