# The front door. `make help` says what there is; CMake and Ninja do the work (CMakePresets.json).
#
# Every target that needs Debian packages calls scripts/setup first, which installs what is missing
# and is silent otherwise (SHEAF_SETUP=no skips it).

PREFIX       ?= /usr/local
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?=
SOAK_CYCLES  ?= 10000
SOAK_SCALE   ?= 100
TESTS        ?=
SUITES       ?=
BENCH_ARGS   ?=
PORT         ?= 8000
DATA         ?= ./sheaf-data
ARGS         ?=

SETUP   = @scripts/setup
build   = @cmake --preset $(1) --log-level=WARNING >/dev/null && cmake --build --preset $(1)
C_FILES = git ls-files '*.c' '*.h'

.DEFAULT_GOAL := help
.PHONY: help serve test bench fuzz fuzz-replay asan tsan soak coverage format format-check layers \
        tidy docs install interop clean

help: ## this text
	@echo 'Sheaf: the DynamoDB data model in C.'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | \
		awk -F@ '{ printf "%-20s %s\n", $$1, $$2 }'
	@echo
	@echo 'Variables, with their values now:'
	@echo '  PORT=$(PORT) DATA=$(DATA) ARGS=$(ARGS)  of make serve: ARGS="--durability relaxed"'
	@echo '  TESTS=$(TESTS)  ctest options: make test TESTS="-R key/" runs the tests of one room'
	@echo '  SUITES=$(SUITES)  of make interop: "cli java" runs those two'
	@echo '  FUZZ_SECONDS=$(FUZZ_SECONDS)  for each target; FUZZ_TARGETS="fuzz_x" picks some'
	@echo '  SOAK_CYCLES=$(SOAK_CYCLES)  crash cycles; SOAK_SCALE=$(SOAK_SCALE) multiplies the random tests'
	@echo '  BENCH_ARGS=$(BENCH_ARGS)  of both benchmarks: --quick, --items N'
	@echo '  PREFIX=$(PREFIX)  DESTDIR=$(DESTDIR)  where make install goes'
	@echo
	@echo 'Start with: make serve'

serve: ## build optimised and run the server on PORT, data in DATA; ARGS are its options
	$(SETUP) build
	$(call build,serve) --target sheaf
	@exec env SHEAF_PORT='$(PORT)' SHEAF_DATA='$(DATA)' build/serve/sheaf serve $(ARGS)

test: ## build with asserts on and run every test
	$(SETUP) test
	$(call build,dev)
	@tools/run-tests build/dev $(TESTS)

bench: ## build optimised and print CPU time per operation: the layers, then whole calls
	$(SETUP) test
	$(call build,release) --target bench_micro bench_embedded
	@build/release/bench/bench_micro $(BENCH_ARGS)
	@build/release/bench/bench_embedded $(BENCH_ARGS)

interop: ## real AWS clients against the server: AWS CLI, boto3, Java; fetches them first
	$(SETUP) test interop
	$(call build,dev) --target sheaf
	@tools/run-interop $(SUITES)

asan: ## unit, contract, example, wire and hostile tests under AddressSanitizer and UBSan
	$(SETUP) test
	$(call build,asan)
	@tools/run-tests build/asan -L '^(unit|contract|example|model|wire|hostile)$$' $(TESTS)

tsan: ## the same under ThreadSanitizer
	$(SETUP) test
	$(call build,tsan)
	@tools/run-tests build/tsan -L '^(unit|contract|example|threads|wire|hostile)$$' $(TESTS)

soak: ## crash tests with SOAK_CYCLES, random tests times SOAK_SCALE: hours
	$(SETUP) test
	$(call build,dev)
	@SHEAF_CRASH_CYCLES=$(SOAK_CYCLES) SHEAF_TEST_SCALE=$(SOAK_SCALE) \
		tools/run-tests --long build/dev -L '^(crash|contract|model|unit)$$' $(TESTS)

fuzz: ## run each libFuzzer target for FUZZ_SECONDS
	$(SETUP) test fuzz
	$(call build,fuzz)
	@tools/run-fuzz search $(FUZZ_SECONDS) $(FUZZ_TARGETS)

fuzz-replay: ## run every file of the seed corpora through its target once
	$(SETUP) test fuzz
	$(call build,fuzz)
	@tools/run-fuzz replay $(FUZZ_TARGETS)

coverage: ## run the tests with gcov and write build/coverage/html
	$(SETUP) test coverage
	$(call build,coverage)
	@find build/coverage -name '*.gcda' -delete
	@tools/run-tests build/coverage -L '^(unit|contract|example)$$' $(TESTS)
	@lcov -q --rc lcov_branch_coverage=1 -c -d build/coverage --no-external -b . -o build/coverage/all.info
	@lcov -q --rc lcov_branch_coverage=1 -e build/coverage/all.info "$(CURDIR)/src/*" -o build/coverage/src.info
	@genhtml -q --branch-coverage -o build/coverage/html build/coverage/src.info
	@lcov --rc lcov_branch_coverage=1 --summary build/coverage/src.info
	@echo 'page by page: build/coverage/html/index.html'

layers: ## check that no folder includes what it may not
	$(SETUP) test
	@tools/check-layers

format: ## let clang-format write the white space of every tracked C file
	$(SETUP) format
	@$(C_FILES) | xargs clang-format -i

format-check: ## fail when make format would change something
	$(SETUP) format
	@tools/check-format

tidy: ## run clang-tidy over src
	$(SETUP) test format
	@cmake --preset dev --log-level=WARNING >/dev/null
	@git ls-files 'src/*.c' | xargs -P 2 -n 4 clang-tidy -p build/dev --quiet

docs: ## rewrite what docs/ says of limits, errors, operations and options from the tables in the code
	$(SETUP) test
	$(call build,dev) --target gen_docs
	@for page in limits errors operations; do build/dev/gen_docs $$page > docs/$$page.md || exit 1; done
	@build/dev/gen_docs options | tools/put-section options docs/server.md

install: ## install sheaf, headers, libraries, pkg-config and CMake packages under PREFIX
	$(SETUP) test
	$(call build,release) --target sheaf sheaf_static sheaf_shared
	@DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)'

clean: ## remove build/
	@rm -rf build
