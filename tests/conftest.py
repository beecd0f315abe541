"""What all tests share: hypothesis runs the same examples every time, without a clock."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "laws",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("laws")
