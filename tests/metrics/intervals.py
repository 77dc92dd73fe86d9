from hypothesis import HealthCheck, settings

thorough = settings(
    deadline=None, max_examples=80, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
