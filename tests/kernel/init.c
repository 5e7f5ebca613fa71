// SPDX-License-Identifier: Apache-2.0
/* A guest's init: "init PROGRAM ARGUMENT..." runs the program, prints its status and powers off. */
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int status;
    pid_t pid;

    (void)argc;
    mount("proc", "/proc", "proc", 0, 0);
    pid = fork();
    if (!pid) {
        dup2(1, 2);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    while (waitpid(-1, &status, 0) != pid)
        ;
    printf("status %d\n", status);
    fflush(stdout);
    reboot(RB_POWER_OFF);
}
