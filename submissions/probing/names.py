"""The probes by name, in the order of the paper; each is a metric of its own under `metrics/`."""

from __future__ import annotations

from fairspace.metrics.association_bias import formula as _association
from fairspace.metrics.embedding_complexity import formula as _complexity
from fairspace.metrics.intent_consistency import formula as _consistency
from fairspace.metrics.projection_distortion import formula as _distortion
from fairspace.metrics.representation_similarity_bias import formula as _similarity
from fairspace.metrics.stepwise_bias import formula as _stepwise

SIMILARITY = _similarity.NAME
ASSOCIATION = _association.NAME
CONSISTENCY = _consistency.NAME
DISTORTION = _distortion.NAME
STEPWISE = _stepwise.NAME
COMPLEXITY = _complexity.NAME
