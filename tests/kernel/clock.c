// SPDX-License-Identifier: Apache-2.0
/*
 * The time-travel clock, which the vDSO reads and a program can write to: a reading is a tick, and whatever a program writes, the
 * kernel's time neither goes back nor passes the next event. Prints "ok" or what went wrong. For time-travel=inf-cpu.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL
#define TICK_NS 256
#define MS_NS 1000000LL
/* Between two events there is a jiffy at most. */
#define MOST_NS (2 * MS_NS)

/* arch/um/include/shared/skas/stub-time.h; the vDSO's page ends with its address. */
struct stub_time {
    uint64_t now, until, monotonic, realtime;
};

static int failures;

static int64_t read_vdso(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int64_t read_kernel(void)
{
    struct timespec ts;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void check(int good, const char *what, int64_t value)
{
    if (good)
        return;
    failures++;
    printf("%s: %lld\n", what, (long long)value);
}

static void test_ticks(void)
{
    int64_t last = read_kernel(), now;

    for (int i = 0; i < 10000; i++) {
        now = i % 7 ? read_vdso() : read_kernel();
        check(now > last && now - last <= 4 * TICK_NS, "a reading is not a tick later", now - last);
        last = now;
    }
}

/* Writes to the page, stops by a system call and looks how far the kernel's time has got. */
static void test_lie(volatile struct stub_time *stub, uint64_t now, uint64_t until)
{
    struct timespec pause = { 0, 3 * MS_NS };
    int64_t before = read_kernel(), after;

    stub->until = until;
    stub->now = now;
    syscall(SYS_getppid);
    after = read_kernel();
    check(after > before && after - before < MOST_NS, "a lie moved the time", after - before);
    /* Are the events still in order? */
    before = after;
    nanosleep(&pause, NULL);
    after = read_kernel();
    check(after - before >= pause.tv_nsec && after - before < pause.tv_nsec + MOST_NS, "3 ms were", after - before);
}

int main(void)
{
    unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
    volatile struct stub_time *stub;
    uint64_t now;

    if (!vdso) {
        puts("there is no vDSO");
        return 1;
    }
    stub = *(struct stub_time **)(vdso + PAGE - sizeof(long));
    test_ticks();
    now = stub->now;
    test_lie(stub, 0, 0);
    test_lie(stub, now - MS_NS, UINT64_MAX);
    test_lie(stub, now + 3600 * 1000 * MS_NS, UINT64_MAX);
    test_lie(stub, INT64_MAX, UINT64_MAX);
    test_lie(stub, UINT64_MAX, UINT64_MAX);
    test_ticks();
    if (!failures)
        puts("ok");
    return failures != 0;
}
