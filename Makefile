# SPDX-License-Identifier: Apache-2.0
# A thin front of the engine: `make` alone says what there is.

.DEFAULT_GOAL := $(if $(filter command,$(origin scenario)),run,help)

# What the user gives on the command line goes to the engine as it is, in the environment: neither make nor a shell looks
# into it, whatever quotes and dollars it holds.
OPTIONS := scenario variant traffic runs seed backend jobs retry force metric set time times a b out
given = $(if $(filter command,$(origin $1)),$(value $1))
unexport $(OPTIONS)
MAKEOVERRIDES :=
export PATHWARP_SCENARIO := $(call given,scenario)
export PATHWARP_VARIANT := $(call given,variant)
export PATHWARP_TRAFFIC := $(call given,traffic)
export PATHWARP_RUNS := $(call given,runs)
export PATHWARP_SEED := $(call given,seed)
export PATHWARP_BACKEND := $(call given,backend)
export PATHWARP_JOBS := $(call given,jobs)
export PATHWARP_RETRY := $(call given,retry)
export PATHWARP_FORCE := $(call given,force)
export PATHWARP_METRIC := $(call given,metric)
export PATHWARP_SET := $(call given,set)
export PATHWARP_TIME := $(call given,time)
export PATHWARP_TIMES := $(call given,times)
export PATHWARP_A := $(call given,a)
export PATHWARP_B := $(call given,b)
export PATHWARP_OUT := $(call given,out)

# Make has one exit status of its own for all that can fail, 2. The engine has two: 1 for a failed trial or build, 2 for
# bad input. So make runs as with --question, where it ends with 1 when there is something left to do, and recipes that
# begin with + are run even so; after a failure of the first kind there is something left to do.
ifeq ($(findstring n,$(firstword -$(MAKEFLAGS))),)
MAKEFLAGS += --question
always := +
endif
failed := build/failed.$(shell echo $$PPID)

run := run
list := list
figures := figures
table := table
verify := verify
diff := diff
check-results := check-results
bench := bench
counts := counts
measure := measure
kernels := build kernels
lab := build lab
vm := build vm
agree := agree
VERBS := run list figures table measure verify diff check-results bench counts agree kernels lab vm

.PHONY: help test clean $(VERBS) $(VERBS:%=engine-%)

$(VERBS): %: engine-%
	@$(shell rm $(failed) 2>/dev/null && echo false)

$(VERBS:%=engine-%): engine-%:
	$(always)@playbooks/engine.sh $(failed) $($*)

test:
	$(always)@playbooks/bootstrap.sh requirements.txt requirements-test.txt
	$(always)@build/venv/bin/python -m pathwarp build tests
	$(always)@build/venv/bin/python -m pathwarp build lab
	$(always)@build/venv/bin/python -m pathwarp build kernels
	$(always)@build/venv/bin/python -m pathwarp build vm --variant tlp-std,tlp-mp
	$(always)@build/venv/bin/python -m pytest tests

clean:
	$(always)@test ! -d build || find build -mindepth 1 -maxdepth 1 ! -name downloads -exec rm -rf -- '{}' +

define HELP
make scenario=NAME [variant=A,B|all] [traffic=A,B|all]   run the trials and print the table
    runs=N       how many seeds                          seed=N       the first seed
    jobs=N       guests side by side                     force=1      run what is sealed again and compare
    backend=vm   virtual machines, at the wall clock's pace
    time=real    User Mode Linux, but at the wall clock's pace
    set=KEY=VALUE  change a value of the scenario
    retry=N      run a trial that fails up to N more times
make list                        scenarios, variants, traffic and topologies
make table scenario=NAME         the table of what is sealed    [metric=KEY]
make measure                     make metrics again that other measuring code made    [scenario=…] [variant=…] [traffic=…] [jobs=N]
make figures scenario=NAME       the figures of what is sealed
make verify scenario=NAME        run what is sealed again: is it the same to the byte?    [variant=…] [runs=N] [times=N]
make diff a=FOLDER b=FOLDER      the first packet in which two run folders differ    [out=FOLDER]
make counts a=FOLDER             reinjections, counted from the captures, by tshark and by the kernel
make check-results               hash what is sealed again: is it as it was? Are its metrics?    [scenario=NAME]
make bench                       how fast trials are on this machine    [traffic=A,B] [runs=N]
make agree scenario=NAME         the same trials in virtual time, in real time and in virtual machines: how far do they differ?
make vm [variant=A,B|all]        prepare what `VARIANT=A vagrant up` needs
make kernels [variant=A,B|all]   build the kernels that are not up to date
make lab                         build the guests' root file system if it is not up to date
make test                        prepare everything and run all tests
make clean                       remove all that was built; results and downloads stay
endef
export HELP

help:
	$(always)@echo "$$HELP"
