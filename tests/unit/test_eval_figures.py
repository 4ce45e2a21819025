from __future__ import annotations

import json

import numpy as np
import pytest

from evals.baseline import Measured, falls, stored, write
from evals.measuring import auroc, slices_of
from evals.picture import picture
from evals.report import as_json, table
from evals.sets import Asked, Question, read_set


def question(name, *relevant, language="en", siblings=(), slices=(), ways=("native",)):
    return Question(
        id=name,
        language=language,
        kind="in_scope" if relevant else "out_of_scope",
        relevant=frozenset(relevant),
        siblings=frozenset(siblings),
        slices=tuple(slices),
        ways=dict.fromkeys(ways, ("text",)),
    )


def asked(question, *ranking, way="native", answered=True, relevance=0.9):
    return Asked(question, way, ranking, answered=answered, relevance=relevance)


def values(answers, place="all", main_way="native"):
    return {k: f.value for k, f in slices_of(answers, main_way)[place].figures.items()}


def measured(answers, questions="same"):
    return Measured(questions, slices_of(answers, "native"))


def test_ranking_figures_are_those_computed_by_hand():
    first, third = question("a", "x"), question("b", "y")
    found = values([asked(first, "x", "z", "y"), asked(third, "z", "x", "y")])
    assert found["P@1"] == 0.5
    assert found["recall@5"] == 1.0
    assert found["MRR@10"] == pytest.approx((1 + 1 / 3) / 2, abs=1e-4)
    assert found["nDCG@10"] == pytest.approx((1 + 1 / np.log2(4)) / 2, abs=1e-4)


def test_a_question_that_found_nothing_counts_as_nothing_found():
    found = values([asked(question("a", "x"), "x"), asked(question("b", "y"))])
    assert found["nDCG@10"] == 0.5


def test_the_eleventh_place_counts_for_nothing():
    others = [f"o{n}" for n in range(10)]
    assert values([asked(question("a", "x"), *others, "x")])["nDCG@10"] == 0.0


def test_refusals_and_answers_are_shares_of_their_own_questions():
    inside, outside = question("a", "x"), question("b")
    found = values([
        asked(inside, "x"),
        asked(question("c", "x"), "x", answered=False, relevance=0.2),
        asked(outside, "x", answered=False, relevance=0.1),
    ])  # fmt: skip
    assert (found["no_match_recall"], found["no_match_refusal"]) == (0.5, 1.0)
    assert found["AUROC"] == 1.0


def test_auroc_counts_ties_as_half():
    assert auroc(np.array([0.5, 0.9]), np.array([0.5, 0.1])).value == pytest.approx(3.5 / 4)


def test_a_sibling_that_leads_is_counted():
    one = question("a", "x", siblings=["y"])
    two = question("b", "x", siblings=["y"])
    assert values([asked(one, "y", "x"), asked(two, "x", "y")])["sibling_first"] == 0.5


def test_languages_and_kinds_are_told_apart():
    answers = [
        asked(question("a", "x", language="de", slices=["title"]), "x"),
        asked(question("b", "x"), "y", "x"),
    ]
    found = slices_of(answers, "native")
    assert set(found) == {"all", "de", "en", "title"}
    assert found["de"].figures["P@1"].value == 1.0


def test_the_main_way_stands_alone_and_others_are_named():
    both = question("a", "x", language="de", ways=("native", "english_mt"))
    plain = question("b", "x")
    answers = [
        asked(both, "y", "x"),
        asked(both, "x", way="english_mt"),
        asked(plain, "x"),
    ]
    found = slices_of(answers, "english_mt")
    assert found["all"].count == 2
    assert found["de"].figures["P@1"].value == 1.0
    assert found["de native"].figures["P@1"].value == 0.0


def better(count=40):
    return [asked(question(f"better{n}", "x"), "x", "y") for n in range(count)]


def worse(count=40):
    return [asked(question(f"worse{n}", "x"), "y", "x") for n in range(count)]


def test_a_worsened_ranking_falls():
    fallen = falls({"s": measured(worse())}, {"s": measured(better())})
    assert {fall.metric for fall in fallen} == {"nDCG@10", "P@1", "MRR@10"}
    assert "was 1.000 [1.000, 1.000]" in str(fallen[0])


def test_an_improved_ranking_does_not_fall():
    assert falls({"s": measured(better())}, {"s": measured(worse())}) == []


def test_more_leading_siblings_are_a_fall():
    def lead(document, other):
        return [asked(question(f"q{n}", "x", siblings=["y"]), document, other) for n in range(9)]

    fallen = falls({"s": measured(lead("y", "x"))}, {"s": measured(lead("x", "y"))})
    assert "sibling_first" in {fall.metric for fall in fallen}


def test_other_questions_fall_only_when_their_whole_interval_does():
    half = [*better(10), *worse(10)]
    before = {"s": measured(half)}
    slightly = [*better(7), *worse(13)]
    assert falls({"s": measured(slightly, "others")}, before) == []
    assert falls({"s": measured(worse(20), "others")}, before)


def test_a_baseline_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "baseline.json"
    write({"a": measured(better())}, path)
    write({"b": measured(worse())}, path)
    assert stored(path) == {"a": measured(better()), "b": measured(worse())}


def test_the_report_shows_what_fell_beside_what_was():
    before, now = measured(better()), measured(worse())
    lines = list(table("s", now, before, falls({"s": now}, {"s": before})))
    assert "!.631 (1.000)" in lines[1]


def test_machines_get_set_slice_and_metric():
    assert as_json({"s": measured(better())})["s"]["all"]["nDCG@10"] == 1.0


def test_the_picture_has_a_bar_for_every_language():
    answers = [asked(question(f"{n}", "x", language=n), "x") for n in ("de", "zh")]
    drawn = picture({"s": measured(answers)})
    assert drawn.count("<rect") == 1 + 3


def folder_of(path, corpus, queries):
    folder = path / "tiny"
    folder.mkdir()
    for name, rows in (("corpus", corpus), ("queries", queries)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    return path


def document(name, **columns):
    return {"id": name, "title": "", "text": "Text.", "lang": "en", "folder": "f"} | columns


def query(name, **columns):
    return {"id": name, "text": "asked", "lang": "en", "kind": "in_scope", "relevant": []} | columns


def test_a_hidden_title_is_used_only_where_it_is_not_the_question(tmp_path):
    folder = folder_of(
        tmp_path,
        [document("d", orig_title="Secret")],
        [query("t", style="title"), query("h", style="heading")],
    )
    titled, untitled = read_set(folder, "tiny").views
    assert [q.id for q in titled.questions] == ["h"]
    assert (titled.documents[0].title, untitled.documents[0].title) == ("Secret", "")


def test_context_becomes_up_to_three_ways_of_asking_at_once(tmp_path):
    turns = [
        {"speaker": "user", "text": "First?"},
        {"speaker": "agent", "text": "Well."},
        {"speaker": "user", "text": "Second?"},
    ]
    folder = folder_of(tmp_path, [document("d")], [query("q", context=turns)])
    tiny = read_set(folder, "tiny")
    assert tiny.main_way == "context"
    ways = tiny.views[0].questions[0].ways
    assert ways["context"] == ("asked", "Second? asked", "First? asked")


def test_a_sample_is_the_same_every_time_and_even_over_languages(tmp_path):
    rows = [query(f"{lang}{n}", lang=lang) for lang in ("de", "zh") for n in range(9)]
    folder = folder_of(tmp_path, [document("d")], rows)
    first, again = (read_set(folder, "tiny", sample=3).views[0].questions for _ in range(2))
    assert first == again
    assert sorted(q.language for q in first) == ["de"] * 3 + ["zh"] * 3
