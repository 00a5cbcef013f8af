"""Messages of every kind, generated as wrappers of any version might write them."""

from typing import Any

from hypothesis import strategies as st

from d0ctl_wrapper.protocol import message

Message = dict[str, Any]

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)

lines = words.filter(lambda text: "\n" not in text)

phases = st.sampled_from(["staging-in", "running", "suspended"])

times = st.floats(0, message.LATEST)

spans = st.floats(0, message.LONGEST_SPAN_S)

amounts = st.floats(-message.LARGEST_COUNT, message.LARGEST_COUNT)

sizes = st.integers(0, 2**63 - 1)

ids = st.integers(1, 2**63 - 1)

hexes = st.text("0123456789abcdef", min_size=64, max_size=64)

codes = st.none() | st.integers(0, 255)

signals = st.none() | st.integers(1, 64)

offsets = st.integers(-50000, 50000)

usage = {"exit_code": codes, "signal": signals, "cpu": spans, "rss": sizes}

binaries = {"binary": ids, "started": times, "ended": times, "gap": st.none() | spans,
            "disk": st.none() | sizes, **usage}  # fmt: skip

names = st.text("abc -_é", min_size=1, max_size=10).map(lambda name: f"sub/{name}")

described: dict[str, st.SearchStrategy[Any]] = {
    "name": names,
    "path": names.map(lambda name: f"/{name}"),
    "size": sizes,
    "checksum": hexes.map(lambda digits: f"sha256:{digits}"),
}

stamps: dict[str, st.SearchStrategy[Any]] = {
    "inode": st.none() | sizes,
    "mtime": st.none() | st.integers(-(2**62), 2**62),
}

outputs = st.fixed_dictionaries({**described, **stamps, "late": st.none() | names})


def numbered(**more: st.SearchStrategy[Any]) -> st.SearchStrategy[Message]:
    """Files with the numbers of their binaries."""
    return st.fixed_dictionaries({**described, "binary": ids, **more})


ranges = st.lists(st.integers(0, 10**9), max_size=4, unique=True).map(
    lambda numbers: [(3 * number, 3 * number + 1) for number in sorted(numbers)]
)

stored = st.fixed_dictionaries({"name": names, "locator": st.just("root://far//f")})

left = st.fixed_dictionaries(
    {
        "name": names,
        "path": names.map(lambda name: f"/{name}"),
        "size": sizes,
        "changed": sizes,
        "binary": ids,
        "late": st.none() | names,
    }
)

kept = st.fixed_dictionaries(
    {
        "through": sizes,
        "why": words,
        "supplied": st.lists(words, max_size=2),
        "files": st.lists(numbered(late=st.none() | names), max_size=2),
        "left": st.lists(left, max_size=2),
        "stored": st.lists(stored, max_size=2),
        "whole": st.booleans(),
        "parts": st.lists(numbered(done=ranges, supplied=words), max_size=2),
    }
)

staged = st.fixed_dictionaries(
    {
        **stamps,
        "locator": st.just("root://far//f"),
        "path": names.map(lambda name: f"/{name}"),
        "size": sizes,
        "checksum": hexes.map(lambda digits: f"sha256:{digits}"),
    }
)

endings = st.sampled_from(
    [("successful", None), ("killed", "killed"), ("failed", "site:no-beam")]
    + [("failed", reason) for reason in message.REASONS if reason != "killed"]
)

fields: dict[str, st.SearchStrategy[Message]] = {
    "start": st.fixed_dictionaries(
        {"pid": ids, "boot_id": words, "utc_offset": offsets, "phase": phases}
    ),
    "state": st.fixed_dictionaries(
        {"phase": phases, "why": lines, "started": st.none() | times, "suspended": spans}
    ),
    "progress": st.fixed_dictionaries(
        {
            **dict.fromkeys(("done", "total"), st.none() | amounts),
            "percent": st.none() | st.floats(0, 100),
            "eta": st.none() | times,
            "binary": ids,
            "line": lines,
            "cpu": spans,
            "rss": sizes,
        }
    ),
    "note": st.fixed_dictionaries({"binary": st.none() | ids, "text": lines}),
    "need": st.fixed_dictionaries({"bytes": sizes, "why": lines}),
    "end": st.fixed_dictionaries(
        {
            "wrapper_started": times,
            "started": st.none() | times,
            "ended": times,
            "suspended": spans,
            "utc_offset": offsets,
            "binary": st.none() | ids,
            "detail": words,
            **usage,
            "stderr": words,
            "binaries": st.lists(st.fixed_dictionaries(binaries), max_size=3),
            "outputs": st.lists(outputs, max_size=3),
            "missing": st.lists(words, max_size=3),
            "partial": st.booleans(),
            "staged": st.lists(staged, max_size=2),
            "stored": st.lists(stored, max_size=2),
            "began": ids,
            "began_why": lines,
            "retained": st.none() | kept,
            "events": st.lists(st.fixed_dictionaries({"binary": ids, "done": ranges}), max_size=3),
        }
    ),
}


@st.composite
def files(draw: st.DrawFn) -> list[Message]:
    """The messages of one file, as a wrapper makes them."""
    attempt, token, first = draw(ids), draw(hexes), draw(st.integers(1, 1000))
    made = []
    for place, kind in enumerate(draw(st.lists(st.sampled_from(list(fields)), min_size=1))):
        common = {"attempt": attempt, "token": token, "seq": first + place, "kind": kind}
        one = {**common, "time": draw(times), **draw(fields[kind])}
        if kind == "end":
            one["outcome"], one["reason"] = draw(endings)
        made.append(one)
    return made


END: Message = {
    "attempt": 1,
    "token": "0" * 64,
    "seq": 2,
    "time": 1.5,
    "kind": "end",
    "outcome": "failed",
    "wrapper_started": None,
    "started": 1,
    "ended": 2,
    "suspended": 0.0,
    "utc_offset": -3600,
    "binary": 1,
    "reason": "exit-code",
    "detail": "",
    "exit_code": 3,
    "signal": None,
    "cpu": 0.1,
    "rss": 5,
    "stderr": "",
    "binaries": [],
    "outputs": [
        {
            "name": "x",
            "path": "/x",
            "size": 1,
            "checksum": "sha256:" + "0" * 64,
            "late": None,
            "inode": None,
            "mtime": None,
        }
    ],
    "missing": [],
    "partial": False,
    "staged": [],
    "stored": [],
    "began": 1,
    "began_why": "",
    "retained": None,
    "events": [],
}
