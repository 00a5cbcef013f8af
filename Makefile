# Everything runs in .venv, which is made from python3 (3.11 or newer) when it is
# missing, moved, broken or older than what it was made from.

bin := .venv/bin
python := $(bin)/python
install := $(python) -m pip install --quiet --disable-pip-version-check
requirements := examples/zpeak/requirements.txt
tests = $(shell find tests -name 'test_*.py')

SCHEDULES := 1000
SEED :=
SLURM :=
MODE := pilot
WORKERS := 2
EXAMPLES := 10000

# Tests start hundreds of pythons; without its cache each compiles all of d0ctl again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-ssh demo-slurm test long check bench chaos hostile soak mutants crates screens cast options schemas completions docs clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1#/p' Makefile | while IFS='#' read -r target does; \
		do printf '  make %-12s %s\n' "$$target" "$$does"; done

demo: .venv/ready  ## run the Z production on this machine, and show the peak
	@sh examples/demo.sh

demo-ssh: .venv/ready  ## run it across two nodes, each behind an sshd of its own
	@$(python) -m tests.support.sshd --find >/dev/null
	@$(python) examples/demo_ssh.py

demo-slurm: .venv/ready  ## run it on a node behind an sshd and in a Slurm of its own, MODE=pilot or direct
	@$(python) -m tests.support.sshd --find >/dev/null
	@$(python) examples/demo_slurm.py $(MODE)

# Each worker would compile all tests at the same time, as long as nobody has.
.cache/tests-compiled: .venv/ready-to-test $(tests)
	@mkdir -p $(@D)
	@printf '%s\n' $(filter %.py,$?) | xargs -r -P 2 -n 270 \
		$(python) -m pytest -q --collect-only >/dev/null || :
	@touch $@

# More workers than cores: most tests wait for daemons and nodes.
test: .venv/ready-to-test .cache/tests-compiled  ## run all tests but those of `make long`
	@$(python) -m tests.support.sshd --find >/dev/null
	@$(python) -m tests.support.durability >/dev/null
	@PYTEST_DEBUG_TEMPROOT=$$($(python) -m tests.support.memory_disk) \
		$(python) -m pytest -n 8 --dist worksteal -o tmp_path_retention_policy=failed -m "not long"

long: .venv/ready-to-test .cache/tests-compiled  ## run the cases that `make test` leaves out
	@$(python) -m tests.support.sshd --find >/dev/null
	@PYTEST_DEBUG_TEMPROOT=$$($(python) -m tests.support.memory_disk) \
		$(python) -m pytest -q -n $(WORKERS) -o tmp_path_retention_policy=failed -m long

check: .venv/ready-to-test  ## run formatter, linter, type checker, import contracts and tests
	@$(bin)/ruff format --check
	@$(bin)/ruff check
	@$(python) -m mypy
	@$(bin)/lint-imports
	@$(MAKE) --no-print-directory test

bench: .venv/ready-to-test  ## measure what performance promises
	@$(python) -m tests.support.sshd --find >/dev/null
	@$(python) -m tests.bench

chaos: .venv/ready-to-test  ## kill and cut all there is, by SCHEDULES=1000 random schedules, SLURM=yes in allocations, TASKS=yes of agents
	@$(python) -m tests.support.sshd --find >/dev/null
	@$(python) -m tests.chaos --schedules $(SCHEDULES) --workers $(WORKERS) $(if $(SEED),--seed $(SEED)) $(if $(SLURM),--slurm) $(if $(TASKS),--tasks)

hostile: .venv/ready-to-test  ## attack a daemon from a hostile node, and print what it costs
	@$(python) -m tests.support.sshd --find >/dev/null
	@$(python) -m tests.hostile

soak: .venv/ready-to-test  ## try EXAMPLES=10000 random lives, drops, messages and damaged files
	@EXAMPLES=$(EXAMPLES) $(python) -m pytest -q -n $(WORKERS) $(if $(SEED),--hypothesis-seed $(SEED)) \
		tests/store/test_life.py::TestLife tests/store/test_early.py::TestEarlyLife tests/test_verbs.py \
		tests/store/test_messages.py::test_any_order_and_any_repetition_gives_the_same_rows \
		tests/cli/test_accepted.py tests/importers/test_hostile.py tests/jobfile/test_hostile.py \
		tests/store/test_any_job.py tests/store/test_correct.py tests/tui/test_outline.py \
		tests/tasks/test_walks.py tests/tasks/test_ranges.py::test_events_are_conserved_whatever_packages_do

mutants: .venv/ready-to-test  ## plant bugs one at a time, and count those that the tests notice
	@$(python) -m tests.support.sshd --find >/dev/null
	@$(python) -m tests.support.durability >/dev/null
	@$(python) -m tests.mutants --workers $(WORKERS)

crates: .venv/ready .cache/roc-validator/ready  ## have the public validator check RO-Crates that d0ctl writes
	@$(python) -m tests.crates .cache/roc-validator/bin/python

screens: .venv/ready-to-test  ## take the pictures in docs/screens and docs/beside.md again
	@$(python) -m tests.screens
	@$(python) -m tests.screens.beside

cast: .venv/ready-to-test  ## record the first production again, as a cast and as a picture that moves
	@$(python) -m tests.screens.cast

options: .venv/ready-to-test  ## write docs/options.md and docs/man again, from the help of every command
	@$(python) -m tests.support.help_page
	@$(python) -m tests.support.man_pages

schemas: .venv/ready-to-test  ## write JSON Schemas, their table, and the methods of the Python interface again
	@$(python) -m tests.support.schemas

completions: .venv/ready  ## write completions/ again, as the program prints them
	@_D0CTL_COMPLETE=source_bash $(bin)/d0ctl >completions/d0ctl.bash
	@_D0CTL_COMPLETE=source_zsh $(bin)/d0ctl | sed -n "/^#compdef/,\$$p" >completions/_d0ctl
	@_D0CTL_COMPLETE=source_fish $(bin)/d0ctl >completions/d0ctl.fish

docs: .venv/ready-for-docs  ## build the manual as a site, .cache/docs/site; a broken link is an error
	@rm -rf .cache/docs && mkdir -p .cache/docs/pages
	@cp -R README.md CHANGELOG.md CONTRIBUTING.md LICENSE docs examples .cache/docs/pages
	@NO_MKDOCS_2_WARNING=1 $(bin)/mkdocs build --strict --config-file docs/mkdocs.yml

clean:  ## remove all that make made: environment, caches, the demo's home
	@rm -rf .venv .cache .demo dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp holds the folder its environment was made for: scripts in a moved
# environment start the python of the old place.
ifneq ($(shell $(python) -c '' 2>/dev/null && cat .venv/made-for 2>/dev/null),$(CURDIR))
.PHONY: .venv/made-for
endif

.venv/made-for:
	@for python in python3 python3.13 python3.12 python3.11 ""; do \
		"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	done; \
	if [ -z "$$python" ]; then \
		echo "make: python 3.11 or newer is missing: apt-get install python3 python3-venv" >&2; exit 1; \
	fi; \
	echo "Making .venv of $$("$$python" --version)" >&2; \
	rm -rf .venv; \
	if "$$python" -c 'import ensurepip' 2>/dev/null; then "$$python" -m venv .venv; \
	else \
		"$$python" -m venv --without-pip .venv 2>/dev/null && \
		"$$python" -m pip --python $(python) install --quiet pip 2>/dev/null; \
	fi || { \
		echo "make: $$python can't make an environment: apt-get install python3-venv" >&2; exit 1; \
	}; \
	printf '%s\n' "$(CURDIR)" >.venv/made-for

.venv/ready: pyproject.toml $(requirements) .venv/made-for
	@echo "Installing d0ctl and what the example needs into .venv" >&2
	@$(install) --editable . --requirement $(requirements)
	@touch $@

.venv/ready-to-test: .venv/ready
	@echo "Installing what the tests need into .venv" >&2
	@$(install) --editable '.[test]'
	@touch $@

.venv/ready-for-docs: .venv/ready
	@echo "Installing what builds the site into .venv" >&2
	@$(install) --editable '.[docs]'
	@touch $@

# An environment of its own: roc-validator needs an older rich than Textual does.
.cache/roc-validator/ready: .venv/made-for
	@echo "Installing roc-validator into .cache/roc-validator" >&2
	@$(python) -m venv --clear $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check roc-validator rocrate
	@touch $@
