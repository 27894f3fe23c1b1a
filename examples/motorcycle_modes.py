"""Sports motorcycle: weave, wobble and capsize over speed, steady turns, and a lane change with a
rider.

The motorcycle comes with Bellcrank as a file (`bellcrank motorcycle new my.toml` writes it). It is
unstable at walking speed, where weave grows; a steering damper moves wobble to more damping and
weave to less. `python examples/motorcycle_modes.py` prints the modes with two dampers, steady turns
and the metrics of a lane change, which begins by steering to the other side.
"""

import bellcrank as bc


def main():
    motorcycle = bc.vehicles.Motorcycle.read("sport")
    for damper in (5, 12):
        print(f"steering damper of {damper} N m s/rad")
        print(
            motorcycle.changed(front={"damper": f"{damper} N-m-s/rad"}).modes([5, 10, 20, 30, 45])
        )
    print(motorcycle.corner(20, [1, 3, 6]))
    print(motorcycle.lane_change(speed=20, offset=3, length=50))


if __name__ == "__main__":
    main()
