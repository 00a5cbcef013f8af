"""A selection of packages, which the functions that change them take as a value."""

import pytest

from d0ctl.store import Store, lifecycle
from d0ctl.store.files import selected_files
from tests.support.jobs import NOW, job, phases, simple, submitted


def test_only_the_selected_packages_are_changed(store: Store) -> None:
    submitted(store, job("job", [simple(), simple(), simple()]))

    with store.writing():
        held = lifecycle.hold(store.select([1, 3]), actor="ada", note=None, now=NOW)

    assert (held, list(phases(store).values())) == (2, ["held", "ready", "held"])


def test_a_selection_cannot_be_used_after_another_was_made(store: Store) -> None:
    submitted(store, job("job", [simple(), simple()]))

    with store.writing():
        first = store.select([1])
        store.select([2])
        with pytest.raises(AssertionError, match="was replaced"):
            lifecycle.hold(first, actor="ada", note=None, now=NOW)

    assert set(phases(store).values()) == {"ready"}


def test_a_selection_ends_with_the_transaction_that_forgets_its_packages(store: Store) -> None:
    submitted(store, job("job", [simple()]))

    with store.reading():
        selected = store.select([1])
        assert selected.count() == 1

    with pytest.raises(AssertionError, match="was replaced"):
        selected.count()


def test_a_query_on_a_selection_needs_one(store: Store) -> None:
    with pytest.raises(AssertionError, match="`hold_packages` acts on a selection"):
        store.change("hold_packages", actor="ada", note=None, now=NOW)


def test_files_are_selected_beside_packages_and_only_until_others_are(store: Store) -> None:
    submitted(store, job("job", [simple(outputs=["a"]), simple(outputs=["b"])]))

    with store.reading():
        packages = store.select([1])
        first = selected_files.select(store, "job", "a", node=None, disposition=None)
        assert (selected_files.weight(first).files, packages.count()) == (1, 1)
        selected_files.select(store, "job", "*", node=None, disposition=None)
        with pytest.raises(AssertionError, match="was replaced"):
            selected_files.weight(first)


def test_a_query_on_selected_files_needs_a_selection_of_files(store: Store) -> None:
    with pytest.raises(AssertionError, match="`look_again` acts on a selection"):
        store.change("look_again")
