/* drain LINES CMD...: reads everything the child prints, counts it and times it.
 *
 * The child's standard input stays open until LINES lines have come (0: it is closed at once), as
 * a client's does. Prints one JSON object. Started from a small process, the child's peak resident
 * size is its own; forked straight from Python it would include Python's. */
#include "spawn.h"

static char block[1 << 18];

static long newlines(const char *p, size_t n) {
    long count = 0;
    for (size_t i = 0; i < n; i++) count += p[i] == '\n';
    return count;
}

int main(int argc, char **argv) {
    long want = argc > 2 ? atol(argv[1]) : -1, lines = 0;
    if (want < 0) {
        fprintf(stderr, "usage: drain LINES CMD...\n");
        return 2;
    }
    int64_t start = now_ns(CLOCK_MONOTONIC), first = 0, last = 0, bytes = 0;
    struct child c = spawn(argv + 2, 300);
    int open = 1;
    for (;;) {
        if (open && lines >= want) open = close(c.to);
        ssize_t got = read(c.from, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) die("read");
        if (got == 0) break;
        last = now_ns(CLOCK_MONOTONIC);
        if (!first) first = last;
        bytes += got;
        lines += newlines(block, (size_t)got);
    }
    if (open) close(c.to);
    struct rusage usage;
    int code = reap(&c, &usage);
    int64_t end = now_ns(CLOCK_MONOTONIC);
    printf("{\"lines\":%ld,\"bytes\":%lld,\"first_ns\":%lld,\"last_ns\":%lld,\"exit_ns\":%lld,"
           "\"max_rss_kib\":%ld,\"code\":%d}\n",
           lines, (long long)bytes, (long long)(first ? first - start : 0),
           (long long)(last ? last - start : 0), (long long)(end - start), usage.ru_maxrss, code);
    return 0;
}
