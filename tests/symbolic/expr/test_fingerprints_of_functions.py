"""Functions that share a name are distinguished."""

import numpy as np

import bellcrank as bc


def test_values_of_one_external_routine_are_different():
    s = bc.System("w", axes="ISO 8855")
    b = s.add_point_mass("b", translate=(1, 3), mass=2)
    s.add_external(
        "pair",
        arguments=("q(b, 1)", "q(b, 2)"),
        returns=("one", "two"),
        python=lambda x, z: (x + 0.6, z + 0.8),
    )
    s.add_force("f1", magnitude="one", direction=s.inertial[1], at=b.origin)
    s.add_force("f3", magnitude="two", direction=s.inertial[3], at=b.origin)
    _, rates = s.equations().compile(backend="python").derivatives(0, [0, 0], [0, 0])
    assert rates.tolist() == [0.3, 0.4]


def test_tables_of_one_name_are_different():
    s = bc.System("w", axes="ISO 8855")
    b = s.add_point_mass("b", translate=(1, 3), mass=2)
    for axis, top in ((1, 1.0), (3, 3.0)):
        force = bc.table([0, 1], [0, top])(b.q[1])
        s.add_force(f"f{axis}", magnitude=force, direction=s.inertial[axis], at=b.origin)
    _, rates = s.equations().compile(backend="python").derivatives(0, [0.5, 0], [0, 0])
    assert np.allclose(rates, [0.25, 0.75])
