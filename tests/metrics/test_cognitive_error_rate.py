from fairspace.metrics.cognitive_error_rate.formula import BASELINES, KINDS


def test_baselines_are_what_a_blind_model_reaches() -> None:
    for attribute, k in (("gender", 2), ("race", 4)):
        for kind in KINDS:
            expected = 1 - 1 / k if kind == "outgroup" else 1 / k
            assert BASELINES[attribute][kind] == expected
