from itertools import combinations
from xml.etree import ElementTree

import pytest

from fairspace.submissions.drawing.dots import Dot, DotLine, DotPlot, Map, Point, dot_plots, heaped, place_labels
from fairspace.submissions.drawing.svg import Axis, Svg, cut, span, width_of

HOSTILE = "</text><script>alert(1)</script>\u202e\x07 \ud800 & \"'"


def test_ticks_are_round_and_within_the_axis() -> None:
    assert Axis(0, 104, 0, 400).ticks() == [0, 20, 40, 60, 80, 100]
    assert [text for _, text in Axis(-0.031, 0.02, 0, 300).labels()] == ["−0.02", "0.00", "0.02"]
    assert span([3.0, 3.0]) == pytest.approx((2.7, 3.3))
    assert span([0.0, 50.0], zero=True) == pytest.approx((0.0, 53.0))


def test_a_heap_of_points_has_one_name_and_the_number_of_the_others() -> None:
    places = [(50.0, 50.0), (90.0, 50.0), (53.0, 50.0), (50.0, 54.0), (92.0, 50.0)]
    assert heaped(places, list("abcde")) == ["a and 2 more", "b", "", "", "e"]


def test_names_cover_no_point_no_name_and_no_end_of_the_frame() -> None:
    points = [(60 + 37 * (place % 6), 60 + 53 * (place // 6)) for place in range(24)]
    sizes = [(48.0, 14.0)] * len(points)
    places = place_labels(points, sizes, (0, 0, 320, 320), blocked=[(0.0, 0.0, 60.0, 20.0)])
    boxes = [box for box in places if box is not None]
    assert len(boxes) == len(points)
    marks = [(x - 6.0, y - 6.0, x + 6.0, y + 6.0) for x, y in points]
    for number, box in enumerate(boxes):
        others = [mark for place, mark in enumerate(marks) if place != number]
        for other in others:
            assert box[0] >= other[2] or other[0] >= box[2] or box[1] >= other[3] or other[1] >= box[3]
    for one, further in combinations([*boxes, (0.0, 0.0, 60.0, 20.0)], 2):
        assert one[0] >= further[2] or further[0] >= one[2] or one[1] >= further[3] or further[1] >= one[3]
    assert all(box[0] >= 0 and box[2] <= 320 and box[1] >= 0 and box[3] <= 320 for box in boxes)


def test_a_value_beyond_the_axis_stands_at_its_end_with_its_number() -> None:
    plot = DotPlot(
        [DotLine("near", [Dot(40, "near: 40", "40")]), DotLine("far", [Dot(147306, "far: 147306", "147306")])], (0, 100)
    )
    image = dot_plots(400, "Far", [plot])
    root = ElementTree.fromstring(image.document())
    ends = [float(line.get("x2", "0")) for line in root.iter() if line.tag.endswith("line")]
    assert max(ends) <= 400
    near, far = [mark for mark in root.iter() if mark.get("class") == "mark"]
    assert [part.tag.rpartition("}")[2] for part in near][-2:] == ["circle", "text"]
    assert [part.tag.rpartition("}")[2] for part in far][-2:] == ["path", "text"]
    assert far[-1].text == "147306"


def test_submitted_text_stays_text_and_the_file_is_well_formed() -> None:
    point = Point(1, 1, HOSTILE, HOSTILE, "/model/a?b=1&c=2", "#0072B2")
    image = Map([point], HOSTILE, HOSTILE, (0, 2), (0, 2), corners=[HOSTILE] * 4).draw(400, HOSTILE)
    text = image.document("https://board.example")
    assert "<script" not in text
    root = ElementTree.fromstring(text)
    [link] = [part for part in root.iter() if part.get("class") == "mark"]
    assert link.get("href") == "https://board.example/model/a?b=1&c=2"


def test_text_is_cut_to_its_room() -> None:
    assert cut("short", 200) == "short"
    assert width_of(cut("a very long name of a model", 80)) <= 80
    assert cut("a very long name of a model", 80).endswith("…")
    assert Svg(10, "x").document().startswith("<svg")
