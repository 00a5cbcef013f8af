"""Keys of the job file by what they change: of two lines only one has the key."""

import os

from tests.support.site import Site

PAIRS = {
    "name of a package": (
        "{packages: [{name: fit, run: exit 3}]}", "binary 1 (fit)",
        "{packages: [{run: exit 3}]}", "binary 1 (stage)",
    ),
    "name of a binary": (
        "{binaries: [{name: own, run: exit 3}]}", "binary 1 (own)",
        "{binaries: [{run: exit 3}]}", "binary 1 (stage)",
    ),
    "shell": ("{shell: sh, run: false | true}", "", "{run: false | true}", "exit-code"),
    "environment": (
        "{environment: {MODE: fast}, run: test $MODE = fast}", "",
        "{run: test $MODE = fast}", "exit-code",
    ),
    "parameters": (
        "{parameters: {word: a}, run: 'test {word} = a'}", "",
        "{parameters: {word: b}, run: 'test {word} = a'}", "exit-code",
    ),
    "glob": (
        "{inputs: {glob: 'g-*'}, run: 'test {inputs} = g-1'}", "", "{run: test -e g-1}",
        "exit-code",
    ),
    "check": ("{check: test -e a, run: touch b}", "verification", "{run: touch b}", ""),
    "check-timeout": (
        "{check: sleep 1.5, check-timeout: 1s, run: 'true'}", "did not end within 1 s",
        "{check: sleep 1.5, run: 'true'}", "",
    ),
    "log-rules": ("{log-rules: FATAL, run: echo FATAL}", "log-message", "{run: echo FATAL}", ""),
    "match": ("{log-rules: [{match: F.TAL}], run: echo FATAL}", "log-message",
              "{log-rules: [{match: OTHER}], run: echo FATAL}", ""),
    "reason": ("{log-rules: [{match: FATAL, reason: 'site:beam'}], run: echo FATAL}", "site:beam",
               "{log-rules: [{match: FATAL}], run: echo FATAL}", "log-message"),
    "passive": ("{log-rules: [{match: FATAL, passive: yes}], run: echo FATAL}", "",
                "{log-rules: [{match: FATAL, passive: no}], run: echo FATAL}", "log-message"),
    "required": ("{log-rules: [{match: all done, required: yes}], run: 'true'}", "verification",
                 "{log-rules: [{match: all done}], run: 'true'}", ""),
    "wall-time": ("{wall-time: 1s, run: sleep 3}", "wall-time", "{run: sleep 3}", ""),
    "looping": ("{looping: 1s, run: sleep 3}", "looping", "{run: sleep 3}", ""),
    "outputs": ("{outputs: o, run: 'true'}", "missing-output", "{run: 'true'}", ""),
    "min-size": (
        "{outputs: {file: p, min-size: 1}, run: touch p}", "missing-output",
        "{outputs: {file: q}, run: touch q}", "",
    ),
    "checksum of an output": (
        "{outputs: {file: s, checksum: 'md5:%s'}, run: touch s}" % ("0" * 32), "verification",
        "{outputs: {file: t}, run: touch t}", "",
    ),
    "late": (
        "{outputs: {file: 'u-*', late: yes}, run: touch u-1 u-2}", "",
        "{outputs: {file: v-3}, run: touch v-1 v-2}", "missing-output",
    ),
    "min-count": (
        "{outputs: {file: 'w-*', late: yes, min-count: 2}, run: touch w-1}", "missing-output",
        "{outputs: {file: 'x-*', late: yes}, run: touch x-1}", "",
    ),
    "size of an input": (
        "{inputs: {file: y, locator: 'file://HERE/raw', size: 7}, run: 'true'}", "stage-in",
        "{inputs: {file: z, locator: 'file://HERE/raw'}, run: 'true'}", "",
    ),
    "checksum of an input": (
        "{inputs: {file: A, locator: 'file://HERE/raw', checksum: 'adler32:00000000'}, "
        "run: 'true'}", "stage-in",
        "{inputs: {file: B, locator: 'file://HERE/raw'}, run: 'true'}", "",
    ),
    "acquire": (
        "{inputs: {file: HERE/raw, acquire: none}, run: test $(readlink -f raw) = HERE/raw}", "",
        "{inputs: HERE/raw, run: test $(readlink -f raw) = HERE/raw}", "exit-code",
    ),
    "acquire, with self": (
        "{inputs: {file: C, locator: 'file://HERE/raw', acquire: self}, run: test -e C}",
        "exit-code", "{inputs: {file: D, locator: 'file://HERE/raw'}, run: test -e D}", "",
    ),
    "packages": (
        "{packages: [{run: sleep 0.3; touch HERE/made}, {run: test -e HERE/made}]}", "",
        "{run: test -e HERE/never}", "exit-code",
    ),
}  # fmt: skip
"""A line with the key, a part of how its attempt failed, and the same of a line without it."""


def failure(site: Site, line: int) -> str:
    """The reason and message of the failure of a line; empty without one."""
    packages = site.json("status", f"pairs/1/{line}/*")["packages"]
    ends = [one for package in packages for one in site.package(package["path"])["attempts"]]
    return " ".join(f"{one['reason']}: {one['message']}" for one in ends if one["reason"])


def test_each_key_of_a_line_changes_how_it_ends(site: Site) -> None:
    (site.folder / "raw").write_text("ten bytes\n")
    (site.jobs / "g-1").touch()
    here = os.path.realpath(site.folder)
    lines = [text for one in PAIRS.values() for text in (one[0], one[2])]
    rows = [f"      - {text.replace('HERE', here)}\n" for text in lines]
    never = "policy: {stage-in: {tries: 0}}"
    text = f"job: pairs\n{never}\nstages:\n  - name: stage\n    lines:\n{''.join(rows)}"

    done = site.d0ctl("run", site.write(text))

    assert done.code == 1, done
    endings = [ending for one in PAIRS.values() for ending in (one[1], one[3])]
    found = [failure(site, line) for line in range(1, len(lines) + 1)]
    wrong = [
        (line, ending, answer)
        for line, ending, answer in zip(lines, endings, found, strict=True)
        if ending not in answer or bool(ending) != bool(answer)
    ]
    assert wrong == []


def test_a_file_with_a_reader_is_a_result_only_if_it_says_so(site: Site) -> None:
    lines = "".join(f"""\
      - packages:
          - {{run: touch {name}, outputs: {{file: {name}{key}}}}}
          - {{run: cat {name}, inputs: {name}}}
""" for name, key in (("asked", ", result: yes"), ("usual", "")))  # fmt: skip

    site.ok("run", site.write(f"job: read\nstages:\n  - lines:\n{lines}"))

    assert [path.name for path in (site.home.root / "results/read").iterdir()] == ["asked"]
