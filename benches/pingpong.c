/* pingpong ROUNDS WARMUP CPU CMD...: one request out, one answer back, over the child's pipes.
 *
 * Prints one JSON object with the distribution of the round trips in nanoseconds. The warm-up's
 * round trips are made and not counted. All processes share the processor CPU; -1 leaves them free. */
#define _GNU_SOURCE
#include <sched.h>

#include "spawn.h"

static void stay_on(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set)) die("sched_setaffinity");
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Reads up to and including a newline; the answer must carry the request's id. */
static void await_answer(int fd, long id) {
    char line[4096], want[48];
    size_t have = 0;
    do {
        ssize_t got = read(fd, line + have, sizeof line - 1 - have);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) die("answer cut short");
        have += (size_t)got;
    } while (line[have - 1] != '\n' && have < sizeof line - 1);
    line[have] = 0;
    snprintf(want, sizeof want, "\"id\":%ld,", id);
    if (!strstr(line, want)) {
        errno = 0;
        die("answer to another request");
    }
}

static int64_t round_trip(struct child *c, long id) {
    char line[256];
    int n = snprintf(line, sizeof line,
                     "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"tools/call\",\"params\":"
                     "{\"name\":\"echo\",\"arguments\":{\"message\":\"hello, how are you?\"}}}\n",
                     id);
    int64_t start = now_ns(CLOCK_MONOTONIC);
    if (write(c->to, line, (size_t)n) != n) die("request");
    await_answer(c->from, id);
    return now_ns(CLOCK_MONOTONIC) - start;
}

int main(int argc, char **argv) {
    long rounds = argc > 4 ? atol(argv[1]) : 0, warmup = argc > 4 ? atol(argv[2]) : 0;
    if (rounds < 1 || warmup < 0) {
        fprintf(stderr, "usage: pingpong ROUNDS WARMUP CPU CMD...\n");
        return 2;
    }
    if (atoi(argv[3]) >= 0) stay_on(atoi(argv[3]));
    struct child c = spawn(argv + 4, 300);
    int64_t *took = calloc((size_t)rounds, sizeof *took), sum = 0;
    if (!took) die("calloc");
    for (long i = 0; i < warmup; i++) round_trip(&c, 100000 + i);
    for (long i = 0; i < rounds; i++) sum += took[i] = round_trip(&c, 1000000 + i);
    close(c.to);

    struct rusage usage;
    int code = reap(&c, &usage);
    qsort(took, (size_t)rounds, sizeof *took, by_value);
    printf("{\"rounds\":%ld,\"median_ns\":%lld,\"p90_ns\":%lld,\"p99_ns\":%lld,\"mean_ns\":%lld,"
           "\"max_rss_kib\":%ld,\"code\":%d}\n",
           rounds, (long long)took[rounds / 2], (long long)took[rounds * 9 / 10],
           (long long)took[rounds * 99 / 100], (long long)(sum / rounds), usage.ru_maxrss, code);
    free(took);
    return 0;
}
