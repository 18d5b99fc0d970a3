# SPDX-License-Identifier: Apache-2.0
# The front end. Every target does its own set-up; CMake does the building.
SHELL := bash
.DEFAULT_GOAL := build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SEEDS ?= 5 6 7
RUN ?= build/bin/dtrun -n 4

# The tree of a preset, and how it is configured, built and tested. In CI, warnings are errors. One test more than there
# are cores: many wait for processes.
tree = build$(if $(filter-out release,$(1)),-$(1))
configure = cmake --preset $(1) $(if $(CI),-DDTENSOR_WERROR=ON) >/dev/null
compile = $(configure) && cmake --build $(tree) --parallel $(JOBS) $(if $(2),--target $(2))
ctest = ctest --test-dir $(tree) --output-on-failure --parallel $(shell expr $(JOBS) + 1) --no-tests=ignore \
	--test-output-size-failed 100000000
# Runs the tests, and lists at its end what was skipped and why, and once more what failed with its output.
check = $(ctest) --output-junit $(CURDIR)/$(tree)/tests.xml --test-output-size-passed 1000000 $(2); status=$$?; \
	scripts/skipped_tests.py $(tree)/tests.xml; scripts/failed_tests.py $(tree)/tests.xml; exit $$status

# What the long matrix runs besides the long tests of the release build: each preset's tests, with a seed of its own for the
# randomized ones, without the checks of the project's form, which do not depend on the preset. With the address sanitizer
# also without tests that start one program again and again, on other meshes or thread counts or to see it die, without the
# sweep over large sizes, and without Python, which does not load the sanitizer first; with clang without the verifier,
# those that wait for processes, Python and the longest; with the thread sanitizer, under which ranks are threads, those in which
# ranks synchronize.
MATRIX := asan tsan clang
RACES := $(foreach room,comm shm cluster launch,$(patsubst tests/$(room)/test_%.c,$(room).%,$(wildcard tests/$(room)/test_*.c))) \
	move.execute \
	move.execute_calls move.threads dispatch.collectives
REPEATED := dispatch.nodes dispatch.thread_bits tools.gpt tools.gradient_table tools.explain tools.show tools.examples \
	dtrun.output dtrun.orphans dtrun.failure dtrun.signals dtrun.reports move.file_faults mpi.misuse mpi.jacobi \
	tools.huggingface tools.estimate rules.large_sizes
DECISIONS := dispatch.values dispatch.cached_decisions
empty :=
regex = ^($(subst $(empty) $(empty),|,$(strip $(1))))$$
which_asan = --exclude-regex '^(project|python)\.|$(call regex,$(REPEATED))'
which_tsan = --tests-regex '$(call regex,$(RACES))'
which_clang = --exclude-regex '^(project|python|comm|shm|cluster|launch|dtrun|mpi|tools|verify)\.|$(call regex,$(REPEATED) $(DECISIONS))'
seed_asan := 2
seed_tsan := 3
seed_clang := 4

.NOTPARALLEL:
.PHONY: help build demo test test-all $(addprefix check-,$(MATRIX)) check-aarch64 check-seeds check-bare soak bench bench-compare compare fuzz lint format docs dist install wheel clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

build: ## the library, the tools and the examples, in build/
	@scripts/setup.sh build
	@$(call compile,release,programs)

# Open MPI's mpirun refuses more ranks than cores, and root, without these variables.
demo: export OMPI_MCA_rmaps_base_oversubscribe = 1
demo: export OMPI_ALLOW_RUN_AS_ROOT = 1
demo: export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
demo: build ## a GPT is trained on four ranks: live progress, a sample of text, the loss curve, the communication; RUN="mpirun -n 4"
	@if [ -t 1 ]; then live=--live; fi; $(RUN) build/examples/gpt --mesh dp=2,tp=2 --svg build/demo.svg $$live
	@echo; echo "The loss curve as a picture: build/demo.svg"

test: ## everything that is quick to check; under 10 minutes with two cores; TESTS='^ops' for some of it
	@scripts/setup.sh test
	@scripts/python_venv.sh
	@$(call compile,release)
	@$(call check,release,--label-regex short $(if $(TESTS),--tests-regex '$(TESTS)'))

test-all: $(addprefix check-,$(MATRIX)) check-aarch64 ## the long matrix: sanitizers, the other compiler, other seeds, faults, fuzzing
	@echo "== long tests"
	@scripts/python_venv.sh
	@$(call compile,release)
	@scripts/fuzz.sh 5 || [ $$? = 77 ]
	@$(call check,release,--label-regex long)

$(addprefix check-,$(MATRIX)): check-%:
	@echo "== $*"
	@scripts/setup.sh all
	@$(call compile,$*,$(if $(filter tsan,$*),$(RACES)))
	@export DTENSOR_TEST_SEED=$(seed_$*); $(call check,$*,--label-regex short $(which_$*))

# Kernels, collectives and ops of another architecture, in short samples: emulated by qemu, with the arm64 libraries that
# scripts/arm64_root.sh fetches. Without these the library is only compiled, with the headers of this system's zlib.
AARCH64 := kernels.attention kernels.complex kernels.convert kernels.copy kernels.random_bits kernels.reduce \
	kernels.small_matrices kernels.spread kernels.strided comm.clear move.execute dispatch.collectives \
	dispatch.meet ops.makers ops.mean
check-aarch64:
	@echo "== aarch64"
	@scripts/setup.sh all
	@if ! command -v aarch64-linux-gnu-gcc >/dev/null; then echo "aarch64: skipped, aarch64-linux-gnu-gcc is not installed"; \
	elif command -v qemu-aarch64 >/dev/null && scripts/arm64_root.sh build-aarch64/root; then \
	    $(call compile,aarch64,$(AARCH64)) && \
	    { export DTENSOR_TEST_RANK_THREADS=1; $(call check,aarch64,--tests-regex '$(call regex,$(AARCH64))'); }; \
	else mkdir -p build-aarch64/root/usr/include; cp /usr/include/zlib.h /usr/include/zconf.h build-aarch64/root/usr/include; \
	    $(call configure,aarch64) -DDTENSOR_LIBRARY_ONLY=ON && cmake --build build-aarch64 --parallel $(JOBS) --target dtensor_static; fi

check-seeds: ## the randomized tests with three other seeds; SEEDS="20 21" for others
	@echo "== seeds"
	@scripts/setup.sh test
	@scripts/python_venv.sh
	@$(call compile,release)
	@for seed in $(SEEDS); do echo "seed $$seed"; DTENSOR_TEST_SEED=$$seed $(call ctest,release) --label-regex seeded \
	    --label-exclude 'long|soak' >build/seeds.log || { cat build/seeds.log; exit 1; }; done

check-bare: ## both commands of the README on a minimal Debian, in a folder of its own (root)
	@scripts/setup.sh bare
	@scripts/check_bare.sh || [ $$? = 77 ]

soak: ## faults and random programs for hours, twenty more seeds, and a bare machine; SOAK='^train' for some, ROUNDS=500
	@scripts/setup.sh test
	@scripts/python_venv.sh
	@scripts/setup.sh bare
	@$(call compile,release)
	@$(if $(ROUNDS),DTENSOR_TEST_RUNS=$(ROUNDS)) $(call ctest,release) --verbose --label-regex soak $(if $(SOAK),--tests-regex '$(SOAK)')
	@$(if $(SOAK),true,$(MAKE) check-seeds SEEDS="$$(seq -s ' ' 5 24)")

bench: ## measurements compared with peers; BENCH=comm for one part, QUICK=1 for a minute a part
	@scripts/setup.sh bench
	@$(call compile,release)
	@scripts/bench.sh $(if $(QUICK),--quick) $(BENCH)

bench-compare: ## an older commit compared with this tree: BASE=<commit>, BENCH=dispatch for one part, ROUNDS=5, QUICK=1
	@scripts/setup.sh bench
	@$(call compile,release)
	@scripts/compare_bench.sh $(if $(QUICK),--quick) $(if $(ROUNDS),--rounds $(ROUNDS)) $(or $(BASE),HEAD) $(BENCH)

compare: ## ops, gradients, optimizers and saved models compared with PyTorch; SEED=2 for other calls, OPS='.*norm' for some ops
	@scripts/setup.sh build
	@$(call compile,release,programs)
	@python3 tests/compare/torch_ops.py --seed $(or $(SEED),1) $(if $(OPS),--ops '$(OPS)')
	@python3 tests/ops/record_memory_orders.py --torch
	@python3 tests/compare/torch_unet.py
	@python3 tests/train/record_optimizers.py --torch
	@python3 tests/compare/saved_folders.py

fuzz: ## a minute of random input for each parser
	@scripts/setup.sh all
	@scripts/fuzz.sh

lint: ## format, editor settings, shell scripts, clang-tidy
	@scripts/setup.sh test
	@$(call configure,release)
	@scripts/lint.py

format: ## formats the code, and generates again what is made from it: ops.h, calls.hpp, manual page, table of files
	@scripts/setup.sh test
	@$(call configure,release)
	@scripts/lint.py --fix
	@scripts/make_ops.py && scripts/make_cpp.py && scripts/file_table.py

docs: ## all pages and the manual as HTML with a search, the manual as PDF and text; in build/docs
	@scripts/setup.sh docs
	@scripts/docs.sh

dist: ## the archive of a release, build/dist/dtensor-VERSION.tar.gz, which needs no git
	@scripts/make_dist.py

install: build ## to PREFIX (/usr/local), below DESTDIR
	@cmake --install build --prefix '$(PREFIX)' >/dev/null
	@echo "Installed to $(DESTDIR)$(PREFIX)"

wheel: ## a wheel of the Python package with the libraries that it needs, in build/wheel
	@scripts/setup.sh build
	@python3 python/backend/dtensor_backend.py build/wheel

clean: ## removes everything that was built
	rm -rf build build-*
