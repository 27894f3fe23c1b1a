"""Methods for constraints in steppers: steps are those of `simulate`, also from what was saved and
after a reset."""

import numpy as np
import pytest

import bellcrank as bc
from tests.ways.capabilities import pendulum

NAMES = ("q(bob, 1)", "q(bob, 2)", "u(bob, 1)", "u(bob, 2)")


@pytest.mark.campaign
@pytest.mark.parametrize("backend", ["c", "wasm"])
@pytest.mark.parametrize("dae", ["dlmm", bc.Dae("stabilised", gamma=5), "minimal"])
def test_steps_are_those_of_simulate(dae, backend):
    sim = pendulum().equations().compile(backend=backend)
    run, st = sim.simulate(t_end=0.4, dae=dae), sim.stepper(dae=dae)

    def follow(first, last):
        for i in range(first, last + 1):
            assert st.t == pytest.approx(run.time[i], abs=1e-12)
            np.testing.assert_array_equal([st.state[x] for x in NAMES], [run[x][i] for x in NAMES])
            if i < last:
                st.step()

    follow(0, 20)
    saved = st.save()
    follow(20, 30)
    st.restore(saved)
    follow(20, 40)
    st.reset()
    follow(0, 10)
    onward = sim.stepper(start=sim.simulate(t_end=0.2, dae=dae))
    onward.step(20)
    np.testing.assert_array_equal([onward.state[x] for x in NAMES], [run[x][40] for x in NAMES])
    if isinstance(dae, str):  # a drift is taken away, with a warning, where parameters are changed
        st.set_parameter(g=5.0)
        st.step()
        assert st.save().dae == bc.Dae(dae)
