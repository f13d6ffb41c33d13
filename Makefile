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
test: setup test-swift conformance test-chaos ## all tests: Swift, then those from outside, in Python

# In groups, one after the other: those that start processes or measure time get the processors for themselves.
TEST_GROUPS = Wire|Bus|Credentials|SkillKit|Router|Text|SessionClient|LLM|Fuzz SessionStore Intent|Worker HTTPServer|Gateway CLI Promise

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

.PHONY: test-chaos
test-chaos: setup ## a minute of chaos on the built programs
	$(SWIFT) build $(BUILD_FLAGS)
	SKILLBUS_BIN="$$PWD/.build/debug" $(PYTHON) Tests/Chaos/chaos.py --quick

.PHONY: chaos
chaos: setup ## kill at random under load and print the figures; ARGS="--json --part storm --jobs 50000" for example
	$(SWIFT) build $(RELEASE_FLAGS) $(BUILD_FLAGS)
	$(PYTHON) Tests/Chaos/chaos.py $(ARGS)

.PHONY: faults
faults: setup ## make each fault of docs/reliability.md and print what came of it; ARGS="--only 4,14" for some
	$(SWIFT) build $(RELEASE_FLAGS) $(BUILD_FLAGS)
	$(PYTHON) Tests/Chaos/faults.py $(ARGS)

# How long a soak is, and the seeds that share it.
SOAK_SECONDS ?= 1800
SOAK_SEEDS ?= 7 11

.PHONY: soak
soak: setup ## half an hour of the storm; SOAK_SECONDS=300 SOAK_SEEDS="1 2 3" for another
	$(SWIFT) build $(RELEASE_FLAGS) $(BUILD_FLAGS)
	@set -e; for seed in $(SOAK_SEEDS); do \
		$(PYTHON) Tests/Chaos/chaos.py --part storm --seed $$seed --storm-seconds $$(( $(SOAK_SECONDS) / $(words $(SOAK_SEEDS)) )) $(ARGS); \
	done

# What runs in many threads of one process, in groups as above. The others start programs, which have no sanitizer.
SANITIZED = Wire|Bus|SkillKit|Router|SessionClient|LLM|Fuzz SessionStore HTTPServer Gateway
# Sanitized programs are slow, and times that are promised to users are not theirs to keep.
SANITIZED_SKIP = StoreSpeedTests|aFullPipeIsNotAskedAgainAndAgain
# run_sanitized FLAGS: the tests, as built with these flags. Leaks are not looked for: where an object has weak references,
# Swift keeps the way to it in a form that the leak check does not know, and what is alive at the end would be reported.
run_sanitized = @set -e; for group in $(if $(FILTER),'$(FILTER)',$(foreach g,$(SANITIZED),'^($(g))Tests\.')); do \
		echo "== $$group"; \
		ASAN_OPTIONS="detect_leaks=0:$$ASAN_OPTIONS" timeout -s KILL 400 \
			$(SWIFT) test --skip-build --disable-xctest $(1) --filter "$$group" --skip '$(SANITIZED_SKIP)'; \
	done

TSAN = --sanitize=thread --scratch-path .build/tsan $(SWIFT_FLAGS)

.PHONY: test-tsan
test-tsan: ready ## the tests of one process under the thread sanitizer; FILTER=Name for some of them
	$(SWIFT) build --build-tests $(TSAN)
	$(call run_sanitized,$(TSAN))

# One build for both: the fuzzer wants to know of wrong accesses, and the tests do not mind its counters. libFuzzer has
# its place in the tests (Tests/LibFuzzer) without its main: every program here has its own.
COVERAGE = edge,indirect-calls,trace-cmp,inline-8bit-counters,pc-table
LIBFUZZER = $(wildcard $(dir $(SWIFT))../lib/clang/*/lib/linux/libclang_rt.fuzzer_no_main-$(shell uname -m).a)
ASAN = --sanitize=address --scratch-path .build/asan -Xswiftc -sanitize-coverage=$(COVERAGE) -Xcc -DLIBFUZZER \
	-Xlinker $(LIBFUZZER) -Xlinker -lstdc++ $(SWIFT_FLAGS)

.PHONY: test-asan
test-asan: ready ## the same under the address sanitizer
	$(SWIFT) build --build-tests $(ASAN)
	$(call run_sanitized,$(ASAN))

.PHONY: fuzz
fuzz: ready ## feed every decoder with made-up input; FUZZ_SECONDS=60 for all, TARGETS="job stream" for some
	$(SWIFT) build --build-tests $(ASAN)
	Tests/Fuzz/fuzz.sh .build/asan/debug/skillbusPackageTests.xctest $(TARGETS)

# Where a real model server is, for the tests that need one.
LLM_PEER ?= $(HOME)/.cache/skillbus/llm-peer

.PHONY: llm-peer
llm-peer: setup ## build llama-server and fetch a tiny model, for make test-llm (ten minutes, once)
	Tests/LLM/peer.sh build "$(LLM_PEER)"

.PHONY: test-llm
test-llm: setup ## tests against a real model server (skips where make llm-peer has not been run)
	@Tests/LLM/peer.sh check "$(LLM_PEER)" || { echo "skipped: the tests with a real model server"; exit 0; }; set -e; \
		$(SWIFT) build --build-tests $(BUILD_FLAGS); \
		for mode in plain tools; do \
			Tests/LLM/peer.sh run "$(LLM_PEER)" $$mode $(SWIFT) test --skip-build --disable-xctest $(SWIFT_FLAGS) \
				--filter '^LLMTests\.Peer'; \
		done; \
		SKILLBUS_BIN="$$PWD/.build/debug" SKILLBUS_LLM_PEER="$(LLM_PEER)" $(PYTHON) -m pytest -q -rP -p no:cacheprovider \
			Tests/conformance/test_llama_server.py

# How much of a book is summarised.
BOOK_KB ?= 64

.PHONY: test-llm-book
test-llm-book: setup ## summarise BOOK_KB=64 of text by the real model server, with the time of each part (some minutes)
	@Tests/LLM/peer.sh check "$(LLM_PEER)" || { echo "skipped: there is no real model server"; exit 0; }; set -e; \
		$(SWIFT) build $(BUILD_FLAGS); \
		SKILLBUS_BIN="$$PWD/.build/debug" SKILLBUS_LLM_PEER="$(LLM_PEER)" SKILLBUS_LLM_BOOK_KB=$(BOOK_KB) $(PYTHON) -m pytest -q -s \
			-p no:cacheprovider Tests/conformance/test_llama_server.py -k book

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

.PHONY: bench-llm
bench-llm: ready ## what a model's answer costs on its way to the user; ARGS="--check --json" for example
	PATH="$(dir $(SWIFT)):$$PATH" RELEASE_FLAGS="$(RELEASE_FLAGS)" python3 Tests/Bench/llm.py $(ARGS)

.PHONY: eval-routing
eval-routing: ready ## measure the routing on labelled sets in a folder: DATA=FOLDER
	@test -n "$(DATA)" || { echo "DATA=FOLDER is missing: a folder with files such as clinc150.train.tsv and clinc150.val.tsv" >&2; exit 2; }
	$(SWIFT) build $(RELEASE_FLAGS) $(BUILD_FLAGS) --product RoutingEval
	.build/release/RoutingEval "$(DATA)"

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
