"""How full caches become, as people read it."""

from d0ctl.schedule.disk_profile import Cache, Change, profiles
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.usage import cache_levels


def test_a_cache_that_is_full_at_once_is_full_now() -> None:
    full, later = Cache(2, "farm", 100, 120), Cache(3, "lab", 100, 0)
    sheet = Sheet(100)

    cache_levels.draw(sheet, profiles([full, later], [Change(60.0, 3, 110)]), 0.0, is_whole=False)

    first, second = [text.split("  ")[-1] for text in sheet.text.splitlines()[1:]]
    cache_levels.draw(sheet, profiles([later], [Change(60.0, 3, 101)]), 0.0, is_whole=False)

    assert "full" not in sheet.text.splitlines()[-1]
    assert (first, second) == ("full now, 20 B too much", "full in 1 min 00 s, 10 B too much")


def test_a_cache_holds_no_more_than_its_disk_has_free() -> None:
    cache = Cache(2, "farm", 1000, 20, free=80)
    (found,) = profiles([cache], [Change(60.0, 2, 90)])
    sheet = Sheet(100)

    cache_levels.draw(sheet, [found], 0.0, is_whole=True)

    assert (found.full_s, cache.holds) == (60.0, 100)
    assert "20 B of 1.0 kB, 80 B free on its disk" in sheet.text
    assert "full in 1 min 00 s, 10 B too much" in sheet.text
    assert "the most in each hour, of 100 B" in sheet.text
