"""What semantics.md says, once more and independently, in plain Python over dictionaries."""

from __future__ import annotations


def within(key, ancestor):
    return key == ancestor or key.startswith(ancestor + "/")


def lists_allow(row, gate, wanted):
    return not row[f"{gate}_restricted"] or bool(set(row[f"{gate}s"]) & set(wanted))


def gates_allow(row, caller):
    return (
        row["visibility"] == "public"
        and not row["deleted"]
        and lists_allow(row, "channel", [caller["channel"]])
        and lists_allow(row, "segment", caller["segments"])
        and lists_allow(row, "jurisdiction", [caller["country"]] if caller["country"] else [])
        and (row["valid_from"] is None or row["valid_from"] <= caller["at"])
        and (row["valid_until"] is None or caller["at"] < row["valid_until"])
    )


def instruction_is_picked(row, scope, parents):
    if scope["mode"] == "all" and not scope["rows"] and not scope["containers"]:
        return True
    place = row["directory"]
    while place is not None:
        if place in scope["containers"]:
            return True
        place = parents[place]
    return row["id"] in scope["rows"]


def item_is_picked(row, scope):
    if scope["mode"] == "all" and not scope["rows"] and not scope["containers"]:
        return True
    return row["id"] in scope["rows"] or any(
        within(row["folder"], folder) for folder in scope["containers"]
    )


def hearable(model, agent, caller):
    """Return the ids of everything that an agent may say to a caller."""
    scope = model["scopes"][agent]
    instructions = {
        row["id"]
        for row in model["instructions"].values()
        if row["published"]
        and gates_allow(row, caller)
        and instruction_is_picked(row, scope["instruction"], model["parents"])
    }
    items = {
        row["id"]
        for row in model["items"].values()
        if row["approved"]
        and row["dataset"] != "conversations"
        and gates_allow(row, caller)
        and (not row["agent_restricted"] or agent in row["agents"])
        and item_is_picked(row, scope["knowledge"])
    }
    return instructions | items
