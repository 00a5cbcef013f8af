#!/usr/bin/env python3
"""sum.py FILE...: add up the counts of JSON files, and print the sums as JSON."""

import json
import sys
from collections import Counter
from pathlib import Path

total = Counter()
for name in sys.argv[1:]:
    total.update(json.loads(Path(name).read_text(encoding="utf-8")))
json.dump(dict(sorted(total.items())), sys.stdout)
print()
