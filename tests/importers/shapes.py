"""Workflows of the shapes that WfCommons collects, as instances of WfFormat 1.5.

Each task writes the names of all tasks that it depends on, and its own, into its outputs.
"""

from typing import Any

Task = tuple[str, str, tuple[str, ...], tuple[str, ...]]
"""The name of its kind, its id, and the files that it reads and makes."""


def blast(width: int) -> list[Task]:
    """A fan: a split, searches side by side, and two merges."""
    parts, found = _names("part", width), _names("hits", width)
    return [
        ("split_fasta", "split", ("raw.dat",), parts),
        *(
            ("blastall", f"blast{n}", (part,), (hit, f"{hit}.err"))
            for n, (part, hit) in enumerate(zip(parts, found, strict=True))
        ),
        ("cat_blast", "cat", found, ("all.out",)),
        ("cat", "cat_errors", tuple(f"{hit}.err" for hit in found), ("all.err",)),
    ]


def epigenomics(width: int) -> list[Task]:
    """Chains of four tasks side by side, between a split and a chain of merges."""
    steps = ("filterContams", "sol2sanger", "fast2bfq", "map")
    tasks: list[Task] = [("fastqSplit", "split", ("raw.dat",), _names("map_0_", width))]
    for n in range(width):
        tasks += [
            (step, f"{step}_{n}", (f"map_{at}_{n}",), (f"map_{at + 1}_{n}",))
            for at, step in enumerate(steps)
        ]
    return [
        *tasks,
        ("mapMerge", "merge", _names("map_4_", width), ("merged.map",)),
        ("maqIndex", "index", ("merged.map",), ("chr21/index",)),
        ("pileup", "pileup", ("merged.map", "chr21/index"), ("pileup.out",)),
    ]


def montage(width: int) -> list[Task]:
    """Projections, differences of neighbours, one model, and backgrounds that read both."""
    projected, fits = _names("p", width), _names("fit", width - 1)
    corrected = _names("c", width)
    return [
        *(("mProject", f"project{n}", ("raw.dat",), (projected[n],)) for n in range(width)),
        *(
            ("mDiffFit", f"diff{n}", (projected[n], projected[n + 1]), (fits[n],))
            for n in range(width - 1)
        ),
        ("mConcatFit", "concat", fits, ("fits.tbl",)),
        ("mBgModel", "model", ("fits.tbl",), ("corrections.tbl",)),
        *(
            ("mBackground", f"bg{n}", (projected[n], "corrections.tbl"), (corrected[n],))
            for n in range(width)
        ),
        ("mAdd", "add", corrected, ("mosaic.fits",)),
        ("mViewer", "view", ("mosaic.fits",), ("mosaic.jpg",)),
    ]


def genome(width: int) -> list[Task]:
    """Two branches of which later tasks read the ends in all combinations."""
    chunks, names = _names("chunk", width), ("ALL", "EUR")
    return [
        *(("individuals", f"ind{n}", ("raw.dat",), (chunk,)) for n, chunk in enumerate(chunks)),
        ("individuals_merge", "merge", chunks, ("merged.tar",)),
        ("sifting", "sift", ("raw.dat",), ("sifted.txt",)),
        *(
            (kind, f"{kind}_{name}", ("merged.tar", "sifted.txt"), (f"{kind}/{name}.tar",))
            for kind in ("mutation_overlap", "frequency")
            for name in names
        ),
    ]


SHAPES = {"blast": blast, "epigenomics": epigenomics, "montage": montage, "genome": genome}


def instance(name: str, width: int) -> dict[str, Any]:
    """An instance of a shape, with commands that run."""
    tasks = SHAPES[name](width)
    makers = {file: key for _, key, _, made in tasks for file in made}
    return {
        "name": name, "schemaVersion": "1.5",
        "workflow": {
            "specification": {
                "tasks": [
                    {
                        "name": kind, "id": key, "inputFiles": list(read),
                        "outputFiles": list(made), "children": [],
                        "parents": sorted({makers[file] for file in read if file in makers}),
                    }
                    for kind, key, read, made in tasks
                ],
                "files": [{"id": file, "sizeInBytes": 100} for file in makers],
            },
            "execution": {
                "makespanInSeconds": 1, "executedAt": "2026-01-01T00:00:00Z",
                "tasks": [
                    {"id": key, "runtimeInSeconds": 0.1, "coreCount": 1,
                     "command": {"program": "sh", "arguments": ["-c", _command(key, read, made)]}}
                    for _, key, read, made in tasks
                ],
            },
        },
    }  # fmt: skip


def ancestors(name: str, width: int) -> dict[str, set[str]]:
    """What the files at the end of a shape have to name."""
    found: dict[str, set[str]] = {"raw.dat": set()}
    tasks = SHAPES[name](width)
    for _, key, read, made in tasks:
        found |= dict.fromkeys(made, {key}.union(*(found[file] for file in read)))
    read_by = {file for _, _, read, _ in tasks for file in read}
    return {file: names for file, names in found.items() if file not in read_by}


def _names(stem: str, width: int) -> tuple[str, ...]:
    return tuple(f"{stem}{n}" for n in range(width))


def _command(key: str, read: tuple[str, ...], made: tuple[str, ...]) -> str:
    folders = " ".join(file.rpartition("/")[0] for file in made if "/" in file)
    make = f"mkdir -p {folders}; " if folders else ""
    return f"{make}(cat {' '.join(read)}; echo {key}) | sort -u | tee {' '.join(made)}"
