"""What a JSON schema says of one field, whichever of its ways of writing it was written in."""

from dataclasses import dataclass, field, replace

BOUNDS = (
    "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern",
)  # fmt: skip


@dataclass(frozen=True)
class Meaning:
    """Shape: `kind` is type and format, `refers` the name of the object that it is."""

    kind: tuple[str, str]
    null: bool = False
    enum: frozenset = frozenset()
    bounds: dict = field(default_factory=dict)
    items: "Meaning | None" = None
    refers: str | None = None


def meaning(node, shapes):
    """Read a field; `shapes` are the named parts of its document."""
    together = [node[word] for word in ("anyOf", "oneOf", "allOf") if word in node]
    if together:
        others = [one for one in together[0] if one.get("type") != "null"]
        (only,) = others
        said = meaning(only, shapes)
        return replace(said, null=said.null or len(others) < len(together[0]))
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[-1]
        said = meaning(shapes[name], shapes)
        return replace(said, refers=name) if said.kind[0] == "object" else said
    return _plain(node, shapes)


def _plain(node, shapes):
    kinds = [node["type"]] if isinstance(node.get("type"), str) else list(node.get("type", ["any"]))
    null = "null" in kinds and len(kinds) > 1
    (kind,) = [one for one in kinds if not null or one != "null"]
    inner = node.get("items") or node.get("additionalProperties")
    enum = [node["const"]] if "const" in node else node.get("enum", [])
    return Meaning(
        kind=(kind, node.get("format", "")),
        null=null,
        enum=frozenset(one for one in enum if one is not None),
        bounds={name: node[name] for name in BOUNDS if name in node},
        items=meaning(inner, shapes) if isinstance(inner, dict) and inner else None,
    )


def misfits(narrow, wide, pairs):
    """What the narrow one allows that the wide one does not, in words; nothing when it fits.

    Shape: `pairs` are the objects of the two documents that stand for each other.
    """
    found = []
    if narrow.kind != wide.kind and wide.kind[0] != "any":
        found.append(f"{narrow.kind} is not {wide.kind}")
    if narrow.null and not wide.null:
        found.append("null")
    if wide.enum and not (narrow.enum and narrow.enum <= wide.enum):
        found.append(f"{sorted(narrow.enum)} is not within {sorted(wide.enum)}")
    found += [
        f"{name} {bound}" for name, bound in wide.bounds.items() if narrow.bounds.get(name) != bound
    ]
    if wide.refers and (narrow.refers, wide.refers) not in pairs:
        found.append(f"{narrow.refers} does not stand for {wide.refers}")
    if wide.items:
        found += misfits(narrow.items, wide.items, pairs) if narrow.items else ["anything inside"]
    return found
