"""The report of cars: complete, alone in one file, units and digits alike, texts made plain, cars
compared."""

import math
import re
from datetime import datetime
from html import escape
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.analysis.view.chart import curve_chart
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars import car_picture as car_drawing
from bellcrank.vehicles.cars.keys.car_keys import DamperKeys
from bellcrank.vehicles.cars.metrics.handling_metrics import Figures, VehicleMetric
from bellcrank.vehicles.cars.metrics.plausibility import HEAVY, is_metric_unusual
from bellcrank.vehicles.cars.suspension_view import axle_view
from bellcrank.vehicles.manoeuvres import four_post, known, sine_with_dwell
from bellcrank.vehicles.manoeuvres.car_comparison import CarResults
from bellcrank.vehicles.manoeuvres.car_report import metric_tables
from bellcrank.vehicles.manoeuvres.car_report.car_report import car_page
from bellcrank.vehicles.manoeuvres.car_report.charts import (
    merge_labelled_curves,
    turn_back_messages,
)
from bellcrank.vehicles.manoeuvres.car_report.display import (
    display_factor_and_unit,
    format_axis_label,
    format_metric,
    format_report_number,
)
from bellcrank.vehicles.manoeuvres.car_report.force_elements import damper_force, spring_curves
from bellcrank.vehicles.manoeuvres.car_report.handling_charts import gg_diagram, steady_curves
from bellcrank.vehicles.manoeuvres.car_report.key_metrics import (
    check_targets,
    read_targets,
    standard_limits,
)
from bellcrank.vehicles.manoeuvres.car_report.lane_change_view import (
    footprint_interval,
    lane_change_svg,
)
from bellcrank.vehicles.manoeuvres.car_report.ride_psd import ride_psd
from bellcrank.vehicles.manoeuvres.channel_metrics import find_peak, limit_message, speed_loss_notes
from bellcrank.vehicles.manoeuvres.footprints import Footprint, vehicle_footprints
from bellcrank.vehicles.manoeuvres.lane_changes import (
    FIRST_CONE_X,
    Lane,
    LaneChangeRun,
    _lane_plan_view,
    clearance,
    lane_instability_message,
)
from bellcrank.vehicles.manoeuvres.manoeuvre_result import Criterion, Curve, Result
from bellcrank.vehicles.manoeuvres.track import cone_positions
from tests.analysis.view.test_report import well_formed

EVIL = '<script>alert(1)</script> & "more"'
T = np.linspace(0.0, 1.0, 3000)


@pytest.fixture(scope="module")
def hmmwv():
    return bc.vehicles.Car.read("hmmwv")


def run_of(**channels):
    units = {
        "ay": "m/s2",
        "ax": "m/s2",
        "speed": "m/s",
        "yaw_rate": "deg/s",
        "steering_wheel": "deg",
        "fl.travel": "m",
    }
    labels = {"speed": "forward speed", "fl.travel": "wheel travel of fl, up"}
    found = {
        n.replace("__", "."): np.broadcast_to(np.asarray(y, float), T.shape)
        for n, y in channels.items()
    }
    return Run("car", T, found, {n: units.get(n, "m") for n in found}, labels, "finished")


def car(name, real, mass):
    """What a report asks of a car, with figures that are known."""
    found = {
        "mass": VehicleMetric(mass, "kg", "mass"),
        "front_share": VehicleMetric(0.5, "", "fraction in front", (0.6, 0.7)),
        "wheelbase": VehicleMetric(2.7, "m", "wheelbase"),
        "cg_height": VehicleMetric(0.5, "m", "height"),
        "steering_ratio": VehicleMetric(16.0, "", "steering ratio"),
    }
    own = SimpleNamespace(
        metrics=Figures(found),
        check=lambda: [f"odd {EVIL}"],
        linkage=real.linkage,
        data=real.data,
        stand=real.stand,
        source=real.source,
        given=real.given,
    )
    return CarResults(name, own)


def step(label, value):
    line = Curve("frequency, Hz", "gain, 1", (("gain", T, T),), (("limit", T, 0 * T),))
    metrics = {
        "ay_response": VehicleMetric(value, "s", "time to 90 %"),
        "gone": VehicleMetric(np.nan, "s", "x"),
    }
    return Result(
        "iso7401-step",
        label,
        {"speed": 80.0, "ay": 4.0, "rise": 0.15, "angle": None, "method": "rk4"},
        {"step": run_of(ay=value * T, speed=20 + T, fl__travel=0.01 * T)},
        Figures(metrics),
        [Criterion(f"less than {EVIL}", value < 2)],
        ["a note"],
        ("ay", "speed", "fl.travel"),
        more=(line,),
    )


@pytest.fixture(scope="module")
def page(hmmwv):
    cars = [car("first", hmmwv, 1000.0), car(EVIL, hmmwv, 1100.0)]
    for c, value in zip(cars, (1.0, 3.0), strict=True):
        c.results["iso7401-step"] = step(c.label, value)
    cars[1].results["iso7401-step"].notes.append("its own")
    cars[1].failures["braking"] = f"it does not stop {EVIL}"
    targets = read_targets(
        {"iso7401-step": {"ay_response": {"max": 2.0, "target": 1.5}, "typo": [0, 1]}}
    )
    linear = {"understeer": VehicleMetric(2.345678, "deg/g", "understeer gradient")}
    with pytest.MonkeyPatch.context() as patch:  # instead of a derivation of the whole car
        patch.setattr(metric_tables, "compile_car", lambda data: data)
        patch.setattr(metric_tables, "linear_handling_metrics", lambda car: Figures(linear))
        return car_page(cars, known(), targets, f"author {EVIL}", datetime(2026, 1, 2, 3, 4))


def test_the_page_is_one_file_with_all_sections(page):
    assert well_formed(page) and "<script" not in page
    names = re.findall(r'<section id="([^"]+)">', page)
    assert names == [
        "overview",
        "car",
        "kinematics",
        "iso7401-step",
        "braking",
    ]  # no handling without a steady circle
    assert not re.search(
        r"(src|href)=[\"'](?!#|data:image/png;)|url\(|@import|https?://(?!www\.w3\.org)", page
    )
    for text in (
        "2026-01-02 03:04",
        f"version {bc.__version__}",
        "SHA-256",
        "hmmwv.toml",
        "tyres:",
        escape(EVIL),
    ):
        assert text in page


def test_values_differences_limits_and_failures(page):
    assert re.search(r">1000</td><td[^>]*>1100</td><td[^>]*><span[^>]*>\+10\.0 %</span>", page)
    assert re.findall(r'narrow (met|missed)">([^<]*)<', page) == [
        ("met", "1.00"),
        ("missed", "3.00"),
    ]
    assert page.count("not measured") == 1 and "≤ 2.00" in page and "target 1.50" in page
    assert (
        "it does not stop" in page
        and "not driven" in page
        and ">none<" in page
        and "unusual" in page
    )
    assert re.findall(r"Note([^:]*): (a note|its own)\.", page) == [
        ("", "a note"),
        (f" of {escape(EVIL)}", "its own"),
    ]


def test_every_table_has_cells_for_all_heads(page):
    for found in re.findall(r"<table>.*?</table>", page, re.S):
        assert (
            len({row.count("<td") + row.count("<th") for row in re.findall(r"<tr>.*?</tr>", found)})
            == 1
        )


def test_every_axis_has_a_label_with_a_unit(page):
    for picture in re.findall(r'<svg class="chart".*?</svg>', page, re.S):
        texts = re.findall(r"<text([^>]*)>([^<]*)</text>", picture)
        turned = " ".join(t for style, t in texts if "rotate(-90)" in style)
        below = texts[-1 - len([s for s, _ in texts if "rotate(-90)" in s])][1]
        assert re.search(r"\(\S.*\)|, \(", turned) and re.search(r"\(\S.*\)|, \(", below), (
            turned,
            below,
        )
    assert "forward speed (km/h)" in page and "wheel travel up, fl (mm)" in page


def test_runs_of_one_line_stay_apart_where_points_are_left_out():
    """A gap between runs is one sample of thousands."""
    y = np.concatenate(
        [
            np.linspace(0, 1, 777),
            [np.nan],
            np.linspace(5, 6, 779),
            [np.nan, np.nan],
            np.linspace(8, 9, 1000),
        ]
    )
    drawn = re.search(
        r' d="([^"]*)"',
        curve_chart([("a", np.arange(float(len(y))), y)], "t (s)", "y (m)", most=50),
    )[1]
    assert drawn.count("M") == 3 and drawn.count("L") < 80
    steps = [float(a.split()[0]) for a in re.split("[ML]", drawn)[1:]]
    assert steps == sorted(steps)


def test_peaks_are_drawn_where_points_are_left_out():
    y = np.zeros(4000)
    y[1237], y[2891] = 1.0, -1.0
    pictures = [
        re.search(
            r' d="([^"]*)"', curve_chart([("a", np.arange(4000.0), y)], "t (s)", "y (m)", most=most)
        )[1]
        for most in (4000, 60)
    ]
    heights = [[float(a.split()[1]) for a in re.split("[ML]", d)[1:]] for d in pictures]
    assert (
        min(heights[0]) == min(heights[1])
        and max(heights[0]) == max(heights[1])
        and len(heights[1]) < 70
    )


def test_whether_the_limit_was_reached():
    """Also where the lateral acceleration hardly falls behind its peak."""
    t = np.linspace(0, 100, 1001)
    flat = np.where(t < 70, t / 10, 7 - 1e-4 * (t - 70))
    for ay, words in (
        (flat, "above 7 m/s2"),
        (t / 10, "was not reached"),
        (np.where(t < 97.05, t / 10, 9), "above 9.7 m/s2"),
    ):
        assert words in limit_message(Run("slow", t, {"speed": t}, {}, {}, "finished"), ay)
    approaches = (
        Run("fixed wheel", t, {"speed": t}, {}, {}, "finished"),
        8.6 - 0.5 * np.exp(-t / 30),
    )
    for largest, words in (
        (
            8.63,
            "was reached: 8.58 m/s2 at 360 km/h; steady turns at that speed have 8.63 m/s2 at most",
        ),
        (
            9.0,
            "was not reached: at the end of the run, 8.58 m/s2 at 360 km/h, the lateral "
            "acceleration still grows; "
            "steady turns at that speed have 9 m/s2 at most",
        ),
        (
            math.nan,
            "was not reached: at the end of the run, 8.58 m/s2 at 360 km/h, the lateral "
            "acceleration still grows",
        ),
    ):
        assert limit_message(*approaches, {100.0: largest}.__getitem__).endswith(words)
    assert speed_loss_notes(approaches[0], 102.0) == []
    (note,) = speed_loss_notes(approaches[0], 125.0)
    assert note.endswith("the speed at the end is 360 km/h in place of 450 km/h")


def test_cars_share_pictures_of_the_same_suspension(page):
    assert page.count("front axle, seen from the front") == 1 and page.count("left side") == 1
    (gain,) = [p for p in re.findall(r"<svg.*?</svg>", page, re.S) if "gain (-)" in p]
    assert gain.count('class="line"') == 3 and gain.count("limit") == 1
    assert (
        gain.count("stroke-dasharray") == 2
    )  # the second car, in its line and in the legend: equal curves are seen
    assert (
        max(len(d) for d in re.findall(r' d="([^"]*)"', gain)) < 8000
    )  # no more points than are seen


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.029439, "m", "0.0294"),
        (15.761, "", "15.8"),
        (999.7, "N", "1000"),
        (4057.0, "N", "4060"),
        (0.0, "", "0"),
        (26.0, "-", "26"),
        (1.0, "-", "1.00"),
        (2703.4, "mm", "2703"),
        (-0.0996, "s", "-0.0996"),
        (9.996, "", "10.0"),
        (math.nan, "", "none"),
        (math.inf, "%", "∞"),
        (123456.0, "N", "123000"),
    ],
)
def test_three_significant_digits(value, unit, text):
    assert format_report_number(value, unit) == text


def test_ratios_are_printed_with_their_digits():
    shown = Figures(
        {
            "peak": VehicleMetric(1.0, "", "peak over the first"),
            "speed": VehicleMetric(80.0, "km/h", "speed"),
        }
    )
    assert (
        str(shown)
        == "peak       1.0000            peak over the first\nspeed          80  km/h      speed"
    )


def test_a_metric_that_was_not_found_is_none():
    """In text as in reports and pages, not a word of Python."""
    shown = Figures({"time": VehicleMetric(float("nan"), "s", "time to 100 km/h")})
    assert (
        str(shown) == "time        none  s         time to 100 km/h"
        and ">none<" in shown._repr_html_()
    )


def test_units_are_those_of_vehicle_engineers():
    assert format_metric(VehicleMetric(1.0, "N-m/(m/s2)", "torque gradient"))[1] == "N·m/(m/s²)"
    assert display_factor_and_unit("wheelbase", "m") == (1000.0, "mm") and display_factor_and_unit(
        "stopping distance from 100 km/h", "m"
    ) == (
        1.0,
        "m",
    )
    assert display_factor_and_unit("wheel rate", "N/m") == (
        0.001,
        "N/mm",
    ) and display_factor_and_unit("steering torque", "N-m") == (1.0, "N·m")
    assert format_axis_label("forward speed of chassis, m/s") == ("forward speed (km/h)", 3.6)
    assert format_axis_label("normal force of fl.tyre, N") == ("wheel load, fl (N)", 1.0)
    assert format_axis_label("slip over the speed of rr.tyre, ") == (
        "longitudinal slip over the speed, rr (-)",
        1.0,
    )
    assert format_axis_label("slip over the speed of the tyres, ") == (
        "longitudinal slip over the speed (-)",
        1.0,
    )
    assert format_axis_label("side wind across the ground, m/s") == (
        "side wind across the ground (km/h)",
        3.6,
    )
    assert format_axis_label("damper speed of fl, compression positive, m/s")[1] == 1000.0
    assert format_axis_label("gain, 1") == ("gain (-)", 1.0)
    assert (
        display_factor_and_unit("mechanical trail", "m")[1] == "mm"
        and display_factor_and_unit("radius of axle trailer_axle", "m")[1] == "m"
    )
    words = "articulation angle: yaw of van against the unit that tows it, to the left"
    assert format_axis_label(f"{words}, deg") == ("articulation angle of van (deg)", 1.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"iso4138": 3}, "must be a section of metrics"),
        ({"iso4138": {"ay_max": 3}}, r"must be \[min, max\]"),
        ({"iso4138": {"ay_max": {"maximum": 3}}}, "Did you mean 'max'"),
        ({"iso4138": {"ay_max": {"max": "3"}}}, "must be a number"),
        ({"iso4138": {"ay_max": [3, 2]}}, "must not be above"),
        ({"iso4183": {"ay_max": [2, 3]}}, "Did you mean 'iso4138'"),
    ],
)
def test_targets_that_cannot_be_are_reported(given, said):
    with pytest.raises(bc.ModelError, match=said):
        check_targets(read_targets(given), known())


def test_limits_of_laws_are_those_of_the_kind_of_vehicle():
    """UN R13-H: 0.1 v + 0.006 v2; UN R13 for trucks: 0.15 v + v2/130. FMVSS 126 is for up to 4,536
    kg."""
    assert standard_limits("braking", {"speed": 100.0}, 1500.0)["distance"].high == pytest.approx(
        70.0
    )
    assert standard_limits("braking", {"speed": 60.0}, 35e3, "truck")[
        "distance"
    ].high == pytest.approx(36.69, abs=0.01)
    assert standard_limits("sine-with-dwell", {}, 3600.0)["lateral_displacement"].low == 1.52
    assert standard_limits("sine-with-dwell", {}, 35e3, "truck") == {}
    braking = bc.vehicles.manoeuvres.known()["braking"].settings["speed"]
    assert (braking.usual("car"), braking.usual("truck")) == (100.0, 60.0)


def test_the_picture_has_the_trailers(monkeypatch):
    """Body, drawbar and wheels of the caravan, its wheels on the ground and as far behind as the
    file says."""
    seen = []
    monkeypatch.setattr(car_drawing, "draw_scene", lambda scene, *_, **__: seen.append(scene))
    for name in ("passenger", "caravan"):
        car = bc.vehicles.Car.read(name)
        car_drawing.car_picture(car.data, car.stand)
    plain, towing = seen
    boxes = [i for i in towing.items if i.kind == "box"]
    assert not [i for i in plain.items if i.kind == "box"] and len(boxes) == 2
    tyres = [
        [(towing.marks[i.marks[0]].position, i.size[0]) for i in s.items if i.kind == "tyre"]
        for s in seen
    ]
    assert len(tyres[1]) == len(tyres[0]) + 2
    trailer = car.data.trailers[0]
    for (x, y, z), radius in tyres[1][-2:]:
        assert x == pytest.approx(trailer.hitch_point[0] + trailer.axles[0].record.at[0])
        assert abs(y) == pytest.approx(trailer.axles[0].record.at[1]) and z == pytest.approx(radius)


def test_a_series_ends_where_the_steering_locks(monkeypatch):
    """The runs before count, and a note says which do not."""

    def dwelt(car, v, side, size, settings):
        if size > 200:
            raise bc.RunError("the linkage of body 'fl' leaves its range")
        return size

    monkeypatch.setattr(sine_with_dwell, "_run_sine_with_dwell", dwelt)
    found, notes = sine_with_dwell._run_amplitudes(None, 20.0, [100.0, 200.0, 220.0, 240.0], {})
    assert found == [100.0, 200.0] * 2
    assert (
        notes[0].startswith("no runs to the left from 220 deg on: the linkage") and len(notes) == 2
    )
    with pytest.raises(bc.RunError, match="from 220 deg on"):
        sine_with_dwell._run_amplitudes(None, 20.0, [220.0], {})


def trailing(trailer, x, y, yaw=0.0, roll=0.0, articulation=0.0):
    """A run of a trailer whose first axle is at x and y."""
    axle = trailer.axles[0].full_name
    values = {
        f"{axle}_x": x,
        f"{axle}_y": y,
        **{
            f"{trailer.name}.{n}": v
            for n, v in (("yaw", yaw), ("roll", roll), ("articulation", articulation))
        },
    }
    return {n: np.broadcast_to(np.asarray(v, float), np.shape(x)) for n, v in values.items()} | {
        "x": x,
        "roll": 0 * x,
    }


def test_trailers_between_cones():
    """The corners of a trailer that goes obliquely through a lane, by hand."""
    lanes = [Lane(0.0, 12.0, -2.5, 2.4), Lane(40.0, 52.0, 2.0, 5.0)]
    car = bc.vehicles.Car.read("caravan")
    (trailer,), (_, outline) = car.data.trailers, vehicle_footprints(car.data, car.stand)
    x, angle = np.linspace(-20.0, 20.0, 4000), math.radians(4.0)
    record, axle = trailer.record, trailer.axles[0].record
    middle, half = record.body_centre_x - axle.at[0], record.width / 2
    for sign in (1, -1):
        run = trailing(trailer, x, 0.2, sign * math.degrees(angle))
        y = [0.2 + sign * (middle + end * record.length / 2) * math.sin(angle) for end in (1, -1)]
        room = min(2.4 - max(y), min(y) + 2.5) - half * math.cos(angle)
        assert clearance(run, lanes, outline)[0] == pytest.approx(room, abs=1e-9)
    assert clearance(run, lanes[1:], outline)[0] == math.inf


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        ({"articulation": lambda x: 10 * np.exp(-x / 50) * np.sin(x)}, ""),
        ({"articulation": lambda x: 6 * np.exp(x / 50) * np.sin(x)}, "sway of caravan grows"),
        (
            {"articulation": lambda x: x},
            "caravan jack-knifes: its articulation angle is up to 100 deg",
        ),
        ({"roll": lambda x: 0.35 * x}, "caravan overturns"),
    ],
)
def test_unstable_trailers_are_not_clean(motion, words):
    (trailer,) = bc.vehicles.Car.read("caravan").data.trailers
    x = np.linspace(0.0, 100.0, 1000)
    run = trailing(trailer, x, 0.0, **{n: f(x) for n, f in motion.items()})
    found = lane_instability_message(run, ["caravan"], 50.0)
    assert words in found and bool(found) == bool(words)
    assert (LaneChangeRun(None, 0.5, 0.0, 0.3, found, True).clearance_score > 0) is not bool(words)
    assert (
        LaneChangeRun(None, 0.5, 0.0, -0.3, "", True).clearance_score == -0.3
        and LaneChangeRun(None, 0.5, 0.0, 0.3, "", False).clearance_score < 0
    )


def test_what_follows_overturning_does_not_count():
    roll = np.array([0.0, 5.0, 12.0, 31.0, 55.0, 10.0])
    assert sine_with_dwell._before_rollover({"roll": roll}) == slice(None, 3)
    assert sine_with_dwell._before_rollover({"roll": roll[:3]}) == slice(None, None)


def test_what_is_unusual_depends_on_the_kind():
    high = VehicleMetric(1.395, "m", "height of the mass centre", (0.2, 1.1))
    assert is_metric_unusual(high) and not is_metric_unusual(high, HEAVY)
    assert is_metric_unusual(VehicleMetric(0.05, "m", "", (0.2, 1.1)), HEAVY)


def test_percentages_have_no_digits_of_rounding():
    assert [
        sine_with_dwell.format_percent(x) for x in (4e-10, 2e-4, 0.0123, 0.901, math.inf, math.nan)
    ] == ["0.00", "0.02", "1.23", "90.1", "inf", "nan"]
    assert [format_report_number(x, "%") for x in (4.3e-8, -1e-4, 0.0123, 12.34)] == [
        "0.00",
        "0.00",
        "0.0123",
        "12.3",
    ]
    assert format_report_number(4.3e-8, "m") == "0.0000000430"


def test_wheel_hop_is_none_of_a_body_on_stiff_springs():
    """A racing car heaves and pitches at 5 Hz; a peak there is no wheel hop, one above is."""
    car = SimpleNamespace(
        metrics={"ride_front": 3.3, "hop_front": 17.7, "ride_rear": 3.2, "hop_rear": 17.9}
    )
    between = four_post._body_wheel_split_frequency(car)
    assert between == pytest.approx(math.sqrt(3.3 * 17.7))
    f = np.linspace(0.5, 25, 400)
    body = 1 / (1 + (f - 5.1) ** 2)
    assert math.isnan(four_post._wheel_hop_frequency(f, body, between))
    assert four_post._wheel_hop_frequency(
        f, body + 0.5 / (1 + (f - 17) ** 2), between
    ) == pytest.approx(17, abs=0.1)
    soft = SimpleNamespace(
        metrics={"ride_front": 1.1, "hop_front": 13, "ride_rear": 1.3, "hop_rear": 14}
    )
    assert four_post._body_wheel_split_frequency(soft) == four_post.BODY


TWO_AXLES = {"front": ("fl", "fr"), "rear": ("rl", "rr")}


def test_understeer_curve_of_a_neutral_car_lies_on_its_neutral_line():
    v, base, ratio = 20.0, 2.7, 16.0
    ay = 5 * T
    run = run_of(
        speed=v, yaw_rate=np.degrees(ay / v), steering_wheel=ratio * np.degrees(base * ay / v**2)
    )
    equivalent = {"wheelbase_equivalent": VehicleMetric(base, "m", "of more than two axles")}
    for found, wheelbase in (({}, base), (equivalent, base / 1.3)):
        result = Result("iso4138", "car", {}, {"circle": run}, Figures(found))
        curve, *_ = steady_curves(
            result, {"wheelbase": wheelbase, "steering_ratio": ratio}, TWO_AXLES
        )
        assert curve.lines[0][2] == pytest.approx(curve.fixed[0][2])


def test_load_transfer_is_split_as_the_loads_are():
    run = run_of(
        speed=20.0,
        yaw_rate=np.degrees(5 * T / 20),
        steering_wheel=T,
        fl__tyre_load=4000 - 600 * T,
        fr__tyre_load=4100 + 600 * T,
        rl__tyre_load=3000 - 200 * T,
        rr__tyre_load=3000 + 200 * T,
        tag_l__tyre_load=3000 - 700 * T,
        tag_r__tyre_load=2900 + 700 * T,
    )
    result = Result("iso4138", "car", {}, {"circle": run}, Figures({}))
    for axles, front in ((TWO_AXLES, 75.0), (TWO_AXLES | {"tag": ("tag_l", "tag_r")}, 40.0)):
        _, *transfers, split = steady_curves(
            result, {"wheelbase": 2.7, "steering_ratio": 16.0}, axles
        )
        assert split.lines[0][2][-1] == pytest.approx(front)
        assert [curve.lines[0][0] for curve in transfers] == [*axles]


def test_a_curve_that_turns_back_is_noted():
    def noted(ay):
        run = run_of(ay=ay, roll=T)
        c = CarResults("a car", None)
        result = Result("iso4138", "", {}, {"": run}, Figures({}), plotted=(("roll", "ay"),))
        result.runs[""].labels["ay"] = "lateral acceleration"
        return list(turn_back_messages([c], [result]))

    (note,) = noted(8 * np.sin(2 * T))
    assert "turn back at 8 m/s2" in note and noted(8 * T) == []


def test_gg_diagram_of_one_car_and_hulls_of_several():
    square = run_of(ax=np.where(T < 0.5, 5.0, -5.0), ay=np.sign(np.sin(40 * T)) * 3)
    cars = [
        CarResults(n, None, {"braking": Result("braking", n, {}, {"": square}, Figures({}))})
        for n in "ab"
    ]
    assert [n for n, _, _ in gg_diagram(cars[:1]).lines] == ["braking"]
    (_, x, _), _ = gg_diagram(cars).lines
    assert len(x) == 5 and np.abs(x).max() == pytest.approx(3 / 9.80665, rel=1e-3)
    assert gg_diagram([CarResults("c", None)]) is None


def test_wheels_stand_in_one_picture():
    """Metrics are of all wheels, so all are drawn; cars compared keep their names."""
    run = run_of(**{f"{c}__tyre_load": i for i, c in enumerate(("fl", "fr", "rl", "rr"))})
    run.labels["fl.tyre_load"], run.units["fl.tyre_load"] = (
        "normal force of the front left tyre",
        "N",
    )
    result = Result("braking", "", {}, {"": run}, Figures({}), plotted=("*.tyre_load", "*.travel"))
    (curve,) = result.curves()
    assert [(n, y[0]) for n, _, y in curve.lines] == [("fl", 0), ("fr", 1), ("rl", 2), ("rr", 3)]
    assert format_axis_label(curve.y) == ("wheel load (N)", 1.0)
    (both,) = merge_labelled_curves([("a", curve), ("b", curve)])
    assert [n for n, _, _ in both.lines][::4] == ["a, fl", "b, fl"]


def test_an_angle_that_passes_180_deg_is_drawn_with_a_gap():
    run = run_of(
        steering_wheel=np.where(T < 0.5, 179.0, -179.0), ay=np.where(T < 0.5, 200.0, -200.0)
    )
    angle, other = Result(
        "", "", {}, {"": run}, Figures({}), plotted=("steering_wheel", "ay")
    ).curves()
    assert np.isnan(angle.lines[0][2]).sum() == 1 and not np.isnan(other.lines[0][2]).any()


def test_peaks_between_samples():
    t = np.arange(0.0, 1.0, 0.01)
    assert find_peak(t, 3 - (t - 0.5037) ** 2) == pytest.approx((0.5037, 3.0), abs=1e-9)
    assert find_peak(t, t) == (t[-1], t[-1])


def test_psd_has_the_power_of_the_signal():
    t = np.arange(0.0, 60.0, 0.01)
    run = Run("car", t, {"az": 2 * np.sin(2 * np.pi * 5 * t)}, {"az": "m/s2"}, {}, "finished")
    (curve,) = ride_psd(Result("ride", "", {}, {"": run}, Figures({})))
    _, f, density = curve.lines[0]
    assert (
        density.sum() * (f[1] - f[0]) == pytest.approx(2.0, rel=0.01)
        and f[np.argmax(density)] == 5.0
    )


def test_the_lines_to_the_instant_centres_give_the_roll_centre_of_the_table():
    """Also with a driver on the left, whose side stands lower."""
    car = bc.vehicles.Car.read("passenger")
    assert abs(car.stand.travel[0] - car.stand.travel[1]) > 0.001
    for axle in ("front", "rear"):
        view = axle_view(car.data.axle(axle), car.stand)
        heights = []
        for wheel in (view.left, view.right):
            (y, z), contact = wheel.front_centre, wheel.contact
            assert len(wheel.links) > 4 and contact[2] == pytest.approx(0, abs=1e-9)
            heights.append(contact[1] * z / (contact[1] - y))
        expected = car.metrics[f"roll_centre_{axle}"]
        assert abs(heights[0] - heights[1]) > 0.002
        assert (
            np.mean(heights) == pytest.approx(expected, abs=3e-4) and view.roll_centre == expected
        )
        middle = np.mean(car.stand.travel[:2] if axle == "front" else car.stand.travel[2:])
        assert expected == pytest.approx(
            car.kinematics(axle, middle)["roll_centre_height"][0], abs=0.002
        )


def test_characteristics_of_springs_and_dampers(hmmwv):
    v = np.array([-0.5, 0.0, 0.5])
    assert damper_force(DamperKeys(coefficient=1000.0), v).tolist() == [-500, 0, 500]
    assert damper_force(DamperKeys(compression=1000.0, rebound=2000.0), v).tolist() == [
        -1000,
        0,
        500,
    ]
    table = ((-0.2, -300.0), (0.0, 0.0), (0.1, 100.0), (0.3, 200.0))
    assert damper_force(DamperKeys(table=table), v) == pytest.approx([-750, 0, 300])
    spring, *_ = spring_curves(hmmwv.data.front, hmmwv.stand)
    assert np.all(np.diff(spring.lines[0][2]) > 0) and np.interp(0, *spring.lines[0][1:]) > 1000


def test_the_car_is_drawn_to_scale_between_its_cones():
    lanes = [
        Lane(FIRST_CONE_X, FIRST_CONE_X + 15, -1.0, 1.0),
        Lane(FIRST_CONE_X + 45, FIRST_CONE_X + 70, 2.0, 4.5),
    ]
    x = np.linspace(0.0, 130.0, len(T))
    run = run_of(x=x, y=0.02 * x, yaw=np.degrees(np.arctan(0.02)), speed=20.0)
    outline = Footprint(EVIL, 4.4, 1.75, 0.3, -0.1)
    corners = outline.corners(run)
    assert np.linalg.norm(corners[:, 0] - corners[:, 1], axis=1) == pytest.approx(1.75)
    inside = (corners[..., 0] >= lanes[0].begin) & (corners[..., 0] <= lanes[0].end)
    room = np.where(inside, np.minimum(corners[..., 1] + 1.0, 1.0 - corners[..., 1]), np.inf).min()
    assert clearance(run, lanes[:1], outline)[0] == pytest.approx(
        room, abs=0.02
    )  # as the criterion has it
    cones = cone_positions(*_lane_plan_view(run, lanes).fixed[0][1:])
    assert len(cones) == 2 * (6 + 9) and set(cones[:, 1]) == {-1.0, 1.0, 2.0, 4.5}
    text = lane_change_svg(run, [outline], cones)
    assert well_formed(text) and "<script" not in text and text.count("animateTransform") == 4
    (wide, high), *_ = re.findall(r'width="([\d.]+)" height="([\d.]+)" rx', text)
    assert float(wide) / float(high) == pytest.approx(4.4 / 1.75, rel=0.01)
    towed = Footprint("trailer", 3.0, 2.0, 0.0, channels=("tx", "y", "yaw"))
    combination = run_of(**run.channels, tx=x - 5.0)
    text = lane_change_svg(combination, [outline, towed], cones)
    assert (
        footprint_interval(run, [outline]) == 0.4
        and footprint_interval(combination, [outline, towed]) == 0.8
    )
    assert well_formed(text) and text.count("<title>trailer</title>") == 2
    moved = [
        [float(v) for v in re.findall(r"translate\(([\d.-]+) ", part)]
        for part in text.split("<title>")
    ]
    assert (
        text.count("animateTransform") == 8 and moved[0][-1] > moved[1][-1]
    )  # the trailer is behind


def test_curves_of_cars_are_joined_by_their_axes():
    one, other = (
        Curve("x, m", "y, m", (("a", T, T),), (("n", T, T),)),
        Curve("x, m", "y, m", (("a", T, T),), (("n", T, -T),)),
    )
    (both,) = merge_labelled_curves([("first", one), ("second", one)])
    assert [n for n, _, _ in both.lines] == ["first", "second"] and len(both.fixed) == 1
    assert len(merge_labelled_curves([("first", one), ("second", other)])[0].fixed) == 2


def test_long_labels_keep_their_unit():
    long = "lateral force of the hitch on a semi-trailer, in axes of the unit that tows it (N)"
    rows = re.findall(
        r"<text transform[^>]*>([^<]*)</text>",
        curve_chart([("", T, T)], "time (s)", long, width=500),
    )
    assert len(rows) == 2 and rows[1].endswith("… (N)") and len(rows[1]) <= 37
    rows = re.findall(
        r"<text transform[^>]*>([^<]*)</text>",
        curve_chart([("", T, T)], "time (s)", long[-40:], width=500),
    )
    assert " ".join(rows) == long[-40:].strip()
