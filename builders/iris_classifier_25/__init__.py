"""The dataset iris_classifier_25."""
