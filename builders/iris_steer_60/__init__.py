"""The dataset iris_steer_60."""
