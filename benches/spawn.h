/* Starting a child on two pipes, for the small clients of the benchmarks. */
#ifndef BENCH_SPAWN_H
#define BENCH_SPAWN_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct child {
    pid_t pid;
    int to;   /* its standard input */
    int from; /* its standard output */
};

static pid_t watched_child;

static void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "failed");
    if (watched_child > 0) kill(watched_child, SIGTERM);
    exit(3);
}

static int64_t now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void on_alarm(int sig) {
    static const char text[] = "time limit passed before everything arrived\n";
    (void)sig;
    if (write(2, text, sizeof text - 1) < 0) _exit(4);
    kill(watched_child, SIGTERM);
    _exit(4);
}

/* Starts argv; gives up on the whole measurement after `limit` seconds. */
static struct child spawn(char **argv, unsigned limit) {
    struct child c;
    int in[2], out[2];
    if (pipe(in) || pipe(out)) die("pipe");
    fcntl(in[1], F_SETFD, FD_CLOEXEC);
    fcntl(out[0], F_SETFD, FD_CLOEXEC);
    c.pid = fork();
    if (c.pid < 0) die("fork");
    if (c.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[0]);
        close(out[1]);
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    c.to = in[1];
    c.from = out[0];
    watched_child = c.pid;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, on_alarm);
    alarm(limit);
    return c;
}

/* Waits for the end and returns the exit code, 128 + signal as a shell does. */
static int reap(struct child *c, struct rusage *usage) {
    int status;
    while (wait4(c->pid, &status, 0, usage) < 0)
        if (errno != EINTR) die("wait4");
    watched_child = 0;
    alarm(0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
