"""What a node counts, and when that makes an attempt give way; what times and sizes look like."""

from collections.abc import Callable
from pathlib import Path

import pytest

from d0ctl_wrapper.attempt.guards.load_guard import ForeignWork, Thrashing
from d0ctl_wrapper.disk import walk_files
from d0ctl_wrapper.host import kernel
from d0ctl_wrapper.protocol import text

Stat = Callable[..., Path]


@pytest.fixture
def eight(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node of eight processors."""
    monkeypatch.setattr("os.sysconf", lambda name: 8)


@pytest.fixture
def stat(tmp_path: Path) -> Stat:
    """Writes what the processors of a node did since its boot."""

    def write(user: int = 0, nice: int = 0, idle: int = 0) -> Path:
        path = tmp_path / "stat"
        path.write_text(f"cpu  {user} {nice} 0 {idle} 0 0 0 0 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
        return path

    return write


@pytest.fixture
def vmstat(tmp_path: Path) -> Stat:
    """Writes what a node swapped since its boot, in pages."""

    def write(came: int, went: int, killed: int = 0) -> Path:
        path = tmp_path / "vmstat"
        path.write_text(f"nr_free 1\npswpin {came}\npswpout {went}\noom_kill {killed}\nother 3\n")
        return path

    return write


def test_cpu_time_of_processes_that_are_not_niced_is_other_work(eight: None, stat: Stat) -> None:
    judge = ForeignWork(0.5, 1, 0.0, stat=bytes(stat()))

    stat(user=60, nice=39, idle=1)
    verdict = judge()

    assert verdict == (True, "other work takes 60 % of the CPUs, 1 % are idle")


def test_cpu_time_of_niced_processes_is_not_other_work(eight: None, stat: Stat) -> None:
    judge = ForeignWork(0.5, 1, 0.0, stat=bytes(stat()))

    stat(user=5, nice=95)

    assert judge() == (False, "other work takes 5 % of the CPUs, 0 % are idle")


def test_a_load_between_the_limits_changes_nothing(eight: None, stat: Stat) -> None:
    judge = ForeignWork(0.5, 1, 0.0, stat=bytes(stat()))

    stat(user=60, nice=33, idle=7)
    between = judge()
    stat(user=120, nice=46, idle=34)
    free = judge()

    assert between is not None and between.pauses is None
    assert free == (False, "other work takes 60 % of the CPUs, 27 % are idle")


def test_swapping_both_ways_is_thrashing(eight: None, vmstat: Stat) -> None:
    judge = Thrashing(1000, 0.0, vmstat=bytes(vmstat(0, 0)))

    vmstat(10**9, 0)
    one_way = judge()
    vmstat(2 * 10**9, 10**9)
    both = judge()
    calm = judge()

    assert one_way is not None and one_way.pauses is None
    assert both is not None and both.pauses is True
    assert calm == (False, "the node swaps 0 B/s in and 0 B/s out")


def test_a_node_without_kernel_counters_gets_no_verdict(eight: None, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("pswpin 1\npswpout 2\n")
    (tmp_path / "torn").write_text("cpu 1 2\n")

    assert kernel.memory(bytes(tmp_path / "old")) is None
    assert kernel.processors(bytes(tmp_path / "torn")) is None
    assert Thrashing(1, 0.0, vmstat=bytes(tmp_path / "none"))() is None
    assert ForeignWork(0.1, 1, 0.0, stat=bytes(tmp_path / "none"))() is None


def test_processes_killed_for_memory_are_counted(vmstat: Stat) -> None:
    counted = kernel.memory(bytes(vmstat(0, 0, killed=3)))

    assert counted is not None and counted.killed == 3


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (2820, "47 min"),
        (7500, "2 h 05 min"),
        (180000, "2 d 2 h"),
    ],
)
def test_times_are_as_exact_as_a_sentence_needs_them(seconds: float, words: str) -> None:
    assert text.span(seconds) == words


@pytest.mark.parametrize(
    ("number", "words"), [(7, "7 B"), (1234, "1.2 kB"), (45.6e6, "46 MB"), (3e18, "3000 PB")]
)
def test_sizes_have_the_unit_that_people_expect(number: float, words: str) -> None:
    assert text.size(number) == words


def test_walking_files_finds_all_below_a_folder_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(bytes(1000))
    (tmp_path / "a" / "link").symlink_to("/")

    seen = list(walk_files(bytes(tmp_path)))

    assert len(seen) == 4
    assert 1000 in [status.st_size for status in seen]
    assert list(walk_files(bytes(tmp_path / "none"))) == []
