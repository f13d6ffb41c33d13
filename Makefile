# Every command that a person or continuous integration types. `make` alone shows them.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# The compiler, looked up when a recipe first needs it (.ci/find-swift says how to get one).
SWIFT = $(eval SWIFT := $$(shell .ci/find-swift || echo false))$(SWIFT)
# Further flags of every `swift build` and `swift test`, such as -Xswiftc -warnings-as-errors.
SWIFT_FLAGS ?=
# An import that Package.swift does not declare would build by accident: make it an error.
BUILD_FLAGS = --explicit-target-dependency-import-check error $(SWIFT_FLAGS)
# What ships: the Swift runtime linked in, which also makes every call into it cheaper, and without the checks for
# overlapping access, which the builds that are tested have.
RELEASE_FLAGS = -c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked
SOURCES = Package.swift Services Shared Tests
PYTHON = .build/venv/bin/python

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ready ## set up, build, start everything, do a real job, then a prompt (in a pipe: exit)
	@$(MAKE) --no-print-directory build
	@deploy/run.sh

.PHONY: demo
demo: ready ## the same job without the prompt
	@$(MAKE) --no-print-directory build
	@deploy/run.sh --no-prompt

.PHONY: build
build: ready ## the release programs, in .build/release
	$(SWIFT) build $(RELEASE_FLAGS) $(BUILD_FLAGS)

.PHONY: test
test: setup test-swift conformance ## all tests: Swift, then the conformance tests from outside

# In groups, one after the other: those that start processes or measure time get the processors for themselves.
TEST_GROUPS = Wire|Bus|Credentials|SkillKit|Router|Text|SessionStore|SessionClient Intent|Worker HTTPServer|Gateway CLI Promise

.PHONY: test-swift
test-swift: ready ## only the Swift tests; FILTER=Name for some of them
	$(SWIFT) build --build-tests $(BUILD_FLAGS)
	@set -e; for group in $(if $(FILTER),'$(FILTER)',$(foreach g,$(TEST_GROUPS),'^($(g))Tests\.')); do \
		echo "== $$group"; \
		timeout -s KILL 400 $(SWIFT) test --skip-build --disable-xctest $(SWIFT_FLAGS) --filter "$$group"; \
	done

.PHONY: conformance
conformance: setup ## only the tests from outside, in Python, on the built programs
	$(SWIFT) build $(BUILD_FLAGS)
	SKILLBUS_BIN="$$PWD/.build/debug" $(PYTHON) -m pytest -q -p no:cacheprovider Tests/conformance

.PHONY: test-tsan
test-tsan: ready ## the Swift tests under the thread sanitizer; FILTER=Name for some of them
	$(SWIFT) test --disable-xctest --sanitize=thread --scratch-path .build/tsan $(SWIFT_FLAGS) \
		$(if $(FILTER),--filter '$(FILTER)')

.PHONY: test-compose
test-compose: ## docker compose for real: build, scale, kill, heal, drain (skips where no engine can start)
	@Tests/compose/test-compose.sh

.PHONY: lint
lint: lint-format lint-imports ## format and documentation of the sources, declared imports

.PHONY: lint-format
lint-format:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

.PHONY: lint-imports
lint-imports: ready
	$(SWIFT) build --build-tests $(BUILD_FLAGS)

.PHONY: format
format: ## format the sources in place
	$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

.PHONY: bench
bench: ready ## compare with the C floor of the same topology; ARGS="--json --rounds 3" for example
	PATH="$(dir $(SWIFT)):$$PATH" RELEASE_FLAGS="$(RELEASE_FLAGS)" python3 Tests/Bench/bench.py $(ARGS)

.PHONY: hooks
hooks: ## check each commit before it is made (git hooks by pre-commit)
	@command -v pre-commit >/dev/null || { echo "pre-commit is missing: pip install pre-commit" >&2; exit 1; }
	pre-commit install --hook-type pre-commit --hook-type pre-push

.PHONY: setup
setup: ## install what is missing, for building and for testing
	@.ci/install

.PHONY: clean
clean: ## delete everything that was built
	rm -rf .build

# What building needs: a fast check, and an installation only when something is missing.
.PHONY: ready
ready:
	@.ci/install --check || .ci/install build
	@.ci/find-swift >/dev/null
