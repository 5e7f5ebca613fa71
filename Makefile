# SPDX-License-Identifier: Apache-2.0
# A thin front of the engine: `make` alone says what there is.

.DEFAULT_GOAL := $(if $(filter command,$(origin scenario)),run,help)

# The engine takes its options from make's command line (MAKEFLAGS) as they were given: they are not for make to expand,
# which exporting them would do.
unexport $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))

# A verb is a file there; `build` has more than one.
COMMANDS := $(subst _,-,$(basename $(notdir $(wildcard pathwarp/commands/[a-z]*.py))))
BUILDS := kernels lab vm

.PHONY: help test clean $(COMMANDS) $(BUILDS)

$(COMMANDS):
	@bin/pathwarp --make $@

$(BUILDS):
	@bin/pathwarp --make build $@

test:
	@playbooks/bootstrap.sh requirements.txt requirements-test.txt
	@bin/pathwarp build tests
	@bin/pathwarp build lab
	@bin/pathwarp build kernels
	@bin/pathwarp build selftests
	@bin/pathwarp build vm --variant tlp-std,tlp-mp
	@build/venv/bin/python -m pytest --numprocesses=auto --dist=loadfile --no-loadscope-reorder tests

clean:
	@test ! -d build || find build -mindepth 1 -maxdepth 1 ! -name downloads -exec rm -rf -- '{}' +

define HELP
make scenario=NAME [variant=A,B|all] [traffic=A,B|all]   run the trials and print the table
    runs=N       how many seeds                          seed=N       the first seed
    jobs=N       guests side by side                     force=1      run what is sealed again and compare
    backend=vm   virtual machines, at the wall clock's pace
    time=real    User Mode Linux, but at the wall clock's pace
    set=KEY=VALUE  change a value of the scenario; set=topology.KEY=…, set=workload.KEY=… of those files
    at=AXIS=VALUE  points of the scenario's grid, where it has one
    retry=N      run a trial that fails up to N more times
    kernel=FOLDER  kernels made from this source, a git checkout or not, in place of the packaged one
make list                        scenarios, variants, traffic and topologies
make table scenario=NAME         the table of what is sealed    [metric=KEY]
make measure                     make metrics again that other measuring code made    [scenario=…] [variant=…] [traffic=…] [jobs=N]
make figures scenario=NAME       the figures of what is sealed
make verify scenario=NAME        run what is sealed again: is it the same to the byte?    [variant=…] [runs=N] [times=N]
make topology name=NAME          draw a topology, with what shapes each direction of its links    [out=FOLDER]
make diff a=FOLDER b=FOLDER      the first packet in which two run folders differ    [out=FOLDER]
make counts a=FOLDER             reinjections, counted from the captures, by tshark and by the kernel
make check-results               hash what is sealed again: is it as it was? Are its metrics?    [scenario=NAME]
make bench                       how fast trials are on this machine    [scenario=NAME] [traffic=A,B] [runs=N]
make agree scenario=NAME         the same trials in virtual time, in real time and in virtual machines: how far do they differ?
make selftests                   the kernel's own tests of MPTCP and TCP    [variant=A,B|all] [tests=A,B] [seeds=N] [seed=N] [noise=…]
make bisect tree=FOLDER good=REV bad=REV   the commit with which a test or a metric changed    test=NAME | scenario=NAME variant=V traffic=T
make vm [variant=A,B|all]        prepare what `VARIANT=A vagrant up` needs
make kernels [variant=A,B|all]   build the kernels that are not up to date
make lab                         build the guests' root file system if it is not up to date
make test                        prepare everything and run all tests
make clean                       remove all that was built; results and downloads stay
endef
export HELP

help:
	@echo "$$HELP"
