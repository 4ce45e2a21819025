from earmark_worker.follow_up import FollowUps, Pins


def test_the_last_executed_search_is_offered_with_at_most_five_results():
    follow_ups = FollowUps()
    follow_ups.executed("r-1", ["a", "b", "a", "c", "d", "e", "f"])
    assert follow_ups.offer() == Pins("r-1", ("a", "b", "c", "d", "e"))


def test_pins_are_sent_once():
    follow_ups = FollowUps()
    follow_ups.executed("r-1", ["a"])
    follow_ups.spent(follow_ups.offer())
    assert follow_ups.offer() is None


def test_pins_of_a_newer_search_survive_the_spending_of_older_ones():
    follow_ups = FollowUps()
    follow_ups.executed("r-1", ["a"])
    older = follow_ups.offer()
    follow_ups.executed("r-2", ["b"])
    follow_ups.spent(older)
    assert follow_ups.offer() == Pins("r-2", ("b",))


def test_an_adoption_is_reported_until_a_request_was_answered():
    follow_ups = FollowUps()
    follow_ups.adopt("r-1")
    carried = follow_ups.adopted()
    follow_ups.adopt("r-2")
    follow_ups.reported(carried)
    assert follow_ups.adopted() == ("r-2",)
