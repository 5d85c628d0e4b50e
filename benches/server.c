/* The far end of the benchmarks' pipes: an MCP server as small as one can be.
 *
 *   server echo               answers every request line with an empty result of the same id, an initialize with its own;
 *                             a request with a progress token gets a progress notification first
 *   server flood COUNT BLOCK  COUNT notifications of about 100 bytes, BLOCK of them to one write
 *   server clock RATE SECONDS numbered notifications with the wall clock's time inside, RATE a second
 */
#include "spawn.h"

static void put(const char *p, size_t n) {
    while (n) {
        ssize_t done = write(1, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) exit(1);
        p += done;
        n -= (size_t)done;
    }
}

static void await_eof(void) {
    char sink[4096];
    ssize_t got;
    while ((got = read(0, sink, sizeof sink)) > 0 || (got < 0 && errno == EINTR)) {
    }
}

static void answer(const char *line) {
    char reply[320];
    const char *id = strstr(line, "\"id\":"), *result = "{\"content\":[]}";
    if (!id) return;
    const char *token = strstr(line, "\"progressToken\":");
    if (token) {
        int n = snprintf(reply, sizeof reply, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                         "{\"progressToken\":%ld,\"progress\":1}}\n", atol(token + 16));
        put(reply, (size_t)n);
    }
    if (strstr(line, "\"initialize\""))
        result = "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
                 "\"serverInfo\":{\"name\":\"bench\",\"version\":\"1\"}}";
    if (strstr(line, "\"tools/list\"")) result = "{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}]}";
    int n = snprintf(reply, sizeof reply, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":%s}\n", atol(id + 5), result);
    put(reply, (size_t)n);
}

static void echo(void) {
    char line[1 << 16];
    size_t have = 0;
    ssize_t got;
    while ((got = read(0, line + have, sizeof line - 1 - have)) > 0) {
        char *from = line, *end;
        have += (size_t)got;
        line[have] = 0;
        while ((end = memchr(from, '\n', have))) {
            *end = 0;
            answer(from);
            have -= (size_t)(end + 1 - from);
            from = end + 1;
        }
        memmove(line, from, have);
    }
}

static void flood(long count, long per_write) {
    static char block[1 << 17];
    size_t have = 0;
    for (long i = 0; i < count; i++) {
        have += (size_t)snprintf(block + have, 128,
                                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                                 "{\"progressToken\":7,\"progress\":%ld}}\n",
                                 1000000000 + i);
        if ((i + 1) % per_write == 0 || have > sizeof block - 256) {
            put(block, have);
            have = 0;
        }
    }
    put(block, have);
    await_eof();
}

/* Keeps to the rate in steps of a millisecond, each message in a write of its own. */
static void clock_ticks(long rate, long seconds) {
    char line[320];
    int64_t start = now_ns(CLOCK_MONOTONIC), sent = 0, elapsed;
    struct timespec nap = {0, 1000000};
    while ((elapsed = now_ns(CLOCK_MONOTONIC) - start) < (int64_t)seconds * 1000000000) {
        int64_t due = 1 + elapsed / 1000 * rate / 1000000;
        for (; sent < due; sent++) {
            int n = snprintf(line, sizeof line,
                             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
                             "{\"level\":\"info\",\"logger\":\"clock\",\"data\":"
                             "{\"n\":%lld,\"t\":%lld,\"text\":"
                             "\"connection %llx kept alive by worker %lld\"}}}\n",
                             (long long)sent, (long long)now_ns(CLOCK_REALTIME),
                             (unsigned long long)sent * 0x9e3779b97f4a7c15ull, (long long)(sent % 17));
            put(line, (size_t)n);
        }
        nanosleep(&nap, NULL);
    }
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "echo")) {
        echo();
    } else if (argc == 4 && !strcmp(argv[1], "flood") && atol(argv[2]) > 0 && atol(argv[3]) > 0) {
        flood(atol(argv[2]), atol(argv[3]));
    } else if (argc == 4 && !strcmp(argv[1], "clock") && atol(argv[2]) > 0 && atol(argv[3]) > 0) {
        clock_ticks(atol(argv[2]), atol(argv[3]));
    } else {
        fprintf(stderr, "usage: server echo | flood COUNT BLOCK | clock RATE SECONDS\n");
        return 2;
    }
    return 0;
}
