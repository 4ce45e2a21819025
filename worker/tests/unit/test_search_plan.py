import pytest

from earmark_worker.search_plan import canonical, strict_queries


@pytest.mark.parametrize(
    "arguments",
    [
        '{"queries": ["a"',
        '{"queries": ["a"]} trailing',
        '{"queries": []}',
        '{"queries": ["a","b","c","d","e"]}',
        '{"queries": ["a"], "limit": 3}',
        '{"queries": "a"}',
        '{"queries": [1]}',
        '{"queries": [" "]}',
        '{"query": ["a"]}',
        "[]",
        "",
        '{"queries": ["' + "x" * 501 + '"]}',
    ],
)
def test_arguments_that_are_not_complete_and_valid_are_refused(arguments):
    assert strict_queries(arguments) is None


def test_valid_arguments_are_read():
    assert strict_queries('{"queries": ["refund  policy", "refund policy"]}') == ("refund policy",)


def test_white_space_and_repeats_do_not_make_another_search():
    assert canonical(["a  b", " a b "]) == ("a b",)
