# SPDX-License-Identifier: Apache-2.0
# The front door. `make demo` and `make test` do all of their own set-up; CMake does the building.
SHELL := bash
.DEFAULT_GOAL := build
JOBS ?= $(shell nproc)
CI_FLAGS := $(if $(CI),-DDTENSOR_WERROR=ON)
BUILD = cmake --preset $(1) $(CI_FLAGS) >/dev/null && cmake --build build$(if $(filter-out release,$(1)),-$(1)) -j $(JOBS)
CTEST = ctest --output-on-failure --test-dir build$(if $(filter-out release,$(1)),-$(1))

.PHONY: build setup test clean
setup:
	@scripts/setup.sh build

build: setup
	@$(call BUILD,release)

test: build
	@$(call CTEST,release) -L short -j $(JOBS)

clean:
	rm -rf build build-*
