// SPDX-License-Identifier: Apache-2.0
/*
 * Floating-point state under everything that moves it: system calls, page faults, threads that share an address space, signals
 * whose handlers compute, fork, vfork, exec, ptrace. Every thread holds values of its own in all vector registers, in MXCSR and in
 * the x87 control word, and looks whether they are still there. Run as "registers ROUNDS FILE"; prints "ok" or what was lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NREG 16
#define WIDTH 32 /* ymm; what a signal frame of UML carries */

struct vec {
    uint8_t b[NREG][WIDTH];
    uint32_t mxcsr;
    uint16_t cw;
} __attribute__((aligned(64)));

static int use_avx;
static volatile long failures;
static volatile long handled;

static void fail(const char *what, long where)
{
    __atomic_add_fetch(&failures, 1, __ATOMIC_SEQ_CST);
    fprintf(stderr, "lost in %s (%ld)\n", what, where);
}

static void fill(struct vec *v, uint64_t seed)
{
    memset(v, 0, sizeof(*v));
    for (unsigned i = 0; i < NREG; i++)
        for (unsigned j = 0; j < (use_avx ? WIDTH : 16); j++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            v->b[i][j] = seed >> 56;
        }
    v->mxcsr = 0x1f80 | ((seed >> 20 & 3) << 13);
    v->cw = 0x037f & ~0x0c00;
    v->cw |= (seed >> 22 & 3) << 10;
}

#define L(n) "vmovdqu " #n "*32(%1), %%ymm" #n "\n"
#define S(n) "vmovdqu %%ymm" #n ", " #n "*32(%2)\n"
#define LX(n) "movdqu " #n "*32(%1), %%xmm" #n "\n"
#define SX(n) "movdqu %%xmm" #n ", " #n "*32(%2)\n"
#define ALL(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define CLOBBERS \
    "rcx", "r11", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
        "xmm12", "xmm13", "xmm14", "xmm15"

/* Load in, do `what` with all registers full, store to out. Nothing between the two may touch a vector register. */
#define AROUND(in, out, ret, what, ...)                                                                                          \
    do {                                                                                                                           \
        uint32_t old_mxcsr = _mm_getcsr();                                                                                         \
        uint16_t old_cw;                                                                                                           \
        __asm__ volatile("fnstcw %0" : "=m"(old_cw));                                                                              \
        if (use_avx)                                                                                                               \
            __asm__ volatile("ldmxcsr 512(%1)\nfldcw 516(%1)\n" ALL(L) what ALL(S) "vzeroupper\nstmxcsr 512(%2)\nfnstcw 516(%2)"   \
                             : "+a"(ret) : "b"(in), "r"(out), __VA_ARGS__ : CLOBBERS);                                             \
        else                                                                                                                       \
            __asm__ volatile("ldmxcsr 512(%1)\nfldcw 516(%1)\n" ALL(LX) what ALL(SX) "stmxcsr 512(%2)\nfnstcw 516(%2)"             \
                             : "+a"(ret) : "b"(in), "r"(out), __VA_ARGS__ : CLOBBERS);                                             \
        _mm_setcsr(old_mxcsr);                                                                                                     \
        __asm__ volatile("fldcw %0" : : "m"(old_cw));                                                                              \
    } while (0)

static int same(const struct vec *a, const struct vec *b)
{
    return !memcmp(a->b, b->b, sizeof(a->b)) && (a->mxcsr & ~0x3f) == (b->mxcsr & ~0x3f) && a->cw == b->cw;
}

static long around_syscall(const struct vec *in, struct vec *out, long nr, long a, long b, long c)
{
    long ret = nr;

    memset(out, 0, sizeof(*out));
    AROUND(in, out, ret, "syscall\n", "D"(a), "S"(b), "d"(c));
    return ret;
}

static void around_touch(const struct vec *in, struct vec *out, volatile char *page, int write)
{
    long ret = 0;

    memset(out, 0, sizeof(*out));
    if (write)
        AROUND(in, out, ret, "movb $1, (%3)\n", "D"(page));
    else
        AROUND(in, out, ret, "movb (%3), %%al\n", "D"(page));
}

static void around_spin(const struct vec *in, struct vec *out, long n)
{
    long ret = n;

    memset(out, 0, sizeof(*out));
    AROUND(in, out, ret, "1: dec %%rax\njnz 1b\n", "D"(0));
}

static __thread volatile double sink;

static void compute(int sig)
{
    struct vec in, out;
    int saved = errno;

    fill(&in, sig * 7919 + handled);
    around_syscall(&in, &out, SYS_getppid, 0, 0, 0);
    if (!same(&in, &out))
        fail("a handler's system call", sig);
    for (int i = 1; i < 20; i++)
        sink += 1.0 / i;
    __atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
    errno = saved;
}

/* Changes the interrupted code's registers through its frame. */
static void change(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;

    (void)sig, (void)info;
    memset(&uc->uc_mcontext.fpregs->_xmm[0], 0x5a, 16);
}

static void segv(int sig, siginfo_t *info, void *context)
{
    compute(sig);
    (void)context;
    if (mprotect((void *)((uintptr_t)info->si_addr & ~4095UL), 4096, PROT_READ | PROT_WRITE))
        _exit(9);
}

static int rounds;
static const char *path;

static void *worker(void *arg)
{
    long id = (long)arg;
    struct vec in, out;
    int fd = open(path, O_RDONLY);

    for (int r = 0; r < rounds; r++) {
        fill(&in, id * 1000003 + r);
        around_syscall(&in, &out, SYS_sched_yield, 0, 0, 0);
        if (!same(&in, &out))
            fail("sched_yield", id);
        around_syscall(&in, &out, SYS_tgkill, getpid(), gettid(), SIGUSR1);
        if (!same(&in, &out))
            fail("a signal to oneself", id);
        struct timespec ts = { 0, 1000 * (id + 1) };
        around_syscall(&in, &out, SYS_nanosleep, (long)&ts, 0, 0);
        if (!same(&in, &out))
            fail("nanosleep", id);
        volatile char *page = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        around_touch(&in, &out, page, 0);
        if (!same(&in, &out))
            fail("a read fault", id);
        around_touch(&in, &out, page, 1);
        if (!same(&in, &out))
            fail("a copy-on-write fault", id);
        around_touch(&in, &out, page + 4096, 1);
        if (!same(&in, &out))
            fail("a write fault", id);
        mprotect((void *)(page + 8192), 4096, PROT_NONE);
        around_touch(&in, &out, page + 8192, 1);
        if (!same(&in, &out))
            fail("a SIGSEGV that a handler mends", id);
        munmap((void *)page, 4 * 4096);
        page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
        around_touch(&in, &out, page, 0);
        if (!same(&in, &out))
            fail("a fault on a file", id);
        munmap((void *)page, 4096);
        around_spin(&in, &out, 2000);
        if (!same(&in, &out))
            fail("a loop", id);
        /* the kernel itself faults the page in, on behalf of the call */
        char *buffer = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        around_syscall(&in, &out, SYS_pread64, fd, (long)buffer, 64);
        if (!same(&in, &out))
            fail("pread", id);
        munmap(buffer, 4096);
        if (r % 8 == id % 8) {
            long pid = around_syscall(&in, &out, SYS_fork, 0, 0, 0);
            if (!same(&in, &out))
                fail(pid ? "fork, parent" : "fork, child", id);
            if (!pid) {
                fill(&in, id * 31 + r);
                around_syscall(&in, &out, SYS_sched_yield, 0, 0, 0);
                if (!same(&in, &out))
                    fail("fork, child's call", id);
                around_touch(&in, &out, (volatile char *)&sink, 1);
                if (!same(&in, &out))
                    fail("fork, child's fault", id);
                _exit(failures != 0);
            }
            int status = -1;
            around_syscall(&in, &out, SYS_wait4, pid, (long)&status, __WALL);
            if (!same(&in, &out))
                fail("wait4", id);
            while (status == -1 && waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
                ;
            if (status)
                fail("a child", status);
        }
    }
    close(fd);
    return NULL;
}

static void *brief(void *arg)
{
    struct vec in, out;

    fill(&in, (long)arg);
    around_syscall(&in, &out, SYS_sched_yield, 0, 0, 0);
    if (!same(&in, &out))
        fail("a brief thread", (long)arg);
    return NULL;
}

static void test_frame(void)
{
    struct vec in, out;

    fill(&in, 4711);
    around_syscall(&in, &out, SYS_tgkill, getpid(), gettid(), SIGUSR2);
    memset(in.b[0], 0x5a, 16);
    if (!same(&in, &out))
        fail("a frame that the handler changed", 0);
}

static void test_threads_that_end(void)
{
    struct vec in, out;

    for (long i = 0; i < rounds; i++) {
        pthread_t t;
        fill(&in, i);
        if (pthread_create(&t, NULL, brief, (void *)i))
            fail("pthread_create", i);
        around_syscall(&in, &out, SYS_sched_yield, 0, 0, 0);
        if (!same(&in, &out))
            fail("beside a brief thread", i);
        pthread_join(t, NULL);
    }
}

static void test_exec(char **argv)
{
    struct vec in, out;
    int status;
    char *args[] = { argv[0], "fresh", NULL };

    for (int i = 0; i < 10; i++) {
        fill(&in, 99 + i);
        pid_t pid = i & 1 ? vfork() : fork();
        if (!pid) {
            struct vec mine, got;
            static char *environment[] = { NULL };
            fill(&mine, 77);
            around_syscall(&mine, &got, SYS_execve, (long)"/proc/self/exe", (long)args, (long)environment);
            _exit(8);
        }
        around_syscall(&in, &out, SYS_sched_yield, 0, 0, 0);
        if (!same(&in, &out))
            fail("beside an exec", i);
        if (waitpid(pid, &status, 0) != pid || status)
            fail("exec", status);
    }
}

/* The registers of a fresh program. */
static int fresh(void)
{
    uint16_t cw;

    __asm__ volatile("fnstcw %0" : "=m"(cw));
    return !((_mm_getcsr() & ~0x3f) == 0x1f80 && cw == 0x37f);
}

static void test_ptrace(void)
{
    struct vec in, out;
    struct user_fpregs_struct regs;
    int status, tube[2];

    if (pipe(tube))
        return;
    fill(&in, 5);
    pid_t pid = fork();
    if (!pid) {
        fill(&in, 6);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        around_syscall(&in, &out, SYS_kill, getpid(), SIGSTOP, 0);
        memset(in.b[1], 0xa5, 16);
        _exit(!same(&in, &out));
    }
    around_syscall(&in, &out, SYS_wait4, pid, (long)&status, 0);
    if (!same(&in, &out))
        fail("beside a traced child", 0);
    fill(&in, 6);
    memset(&regs, 0, sizeof(regs));
    if (ptrace(PTRACE_GETFPREGS, pid, 0, &regs))
        fail("PTRACE_GETFPREGS", errno);
    for (int i = 0; i < NREG; i++)
        if (memcmp(in.b[i], (char *)regs.xmm_space + 16 * i, 16))
            fail("a traced child's registers", i);
    memset((char *)regs.xmm_space + 16, 0xa5, 16);
    if (ptrace(PTRACE_SETFPREGS, pid, 0, &regs))
        fail("PTRACE_SETFPREGS", errno);
    ptrace(PTRACE_CONT, pid, 0, 0);
    if (waitpid(pid, &status, 0) != pid || status)
        fail("registers set in a traced child", status);
    close(tube[0]);
    close(tube[1]);
}

/* Every instruction of a child that faults and calls stops for its tracer. */
static void test_single_step(void)
{
    struct vec in, out;
    int status, steps = 0;
    pid_t pid = fork();

    if (!pid) {
        fill(&in, 8);
        volatile char *page = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        kill(getpid(), SIGSTOP);
        int bad = 0;
        for (int i = 0; i < 4; i++) {
            around_touch(&in, &out, page + 8192 * i, i & 1);
            bad |= !same(&in, &out);
            around_syscall(&in, &out, SYS_getppid, 0, 0, 0);
            bad |= !same(&in, &out);
        }
        _exit(bad);
    }
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        steps++;
        ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
    }
    if (status || steps < 400)
        fail("single steps", status ? status : steps);
}

int main(int argc, char **argv)
{
    pthread_t threads[5];

    use_avx = __builtin_cpu_supports("avx");
    if (argc > 1 && !strcmp(argv[1], "fresh"))
        return fresh();
    if (argc < 3)
        return 2;
    rounds = atoi(argv[1]);
    path = argv[2];

    /* alarms reach whichever thread runs */
    struct sigaction sa = { .sa_handler = compute, .sa_flags = SA_RESTART };
    sigaction(SIGUSR1, &sa, NULL);
    sigaction(SIGALRM, &sa, NULL);
    struct sigaction si = { .sa_sigaction = segv, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &si, NULL);
    si.sa_sigaction = change;
    sigaction(SIGUSR2, &si, NULL);
    struct itimerval it = { { 0, 1700 }, { 0, 1700 } }, none = { { 0, 0 }, { 0, 0 } };

    test_frame();
    setitimer(ITIMER_REAL, &it, NULL);
    for (long i = 0; i < 5; i++)
        if (pthread_create(&threads[i], NULL, worker, (void *)i))
            fail("pthread_create", i);
    for (long i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    test_threads_that_end();
    setitimer(ITIMER_REAL, &none, NULL);
    test_exec(argv);
    test_ptrace();
    test_single_step();
    printf("%s, %ld handlers%s\n", failures ? "LOST" : "ok", handled, use_avx ? ", avx" : "");
    return failures != 0;
}
