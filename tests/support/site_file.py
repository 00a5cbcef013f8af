"""Site files that count at once, read as `site apply` reads them."""

import json
from typing import Any

from d0ctl.sitefile.reader import read_text
from d0ctl.store import Store
from d0ctl.store.clusters import site_changes


def apply_site(store: Store, text: str = "", **sections: Any) -> None:
    """Apply a site file of this text, or of these sections; `_` stands for `-`."""
    whole = {name.replace("_", "-"): value for name, value in sections.items()}
    read = read_text(text or json.dumps(whole), "site.yaml")
    site_changes.apply(store, read, {}, actor="me", note=None, now=0.0, source="site.yaml")
