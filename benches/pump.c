/* pump MESSAGES WINDOW SECONDS CMD...: mixed traffic to a server on stdio, as fast as it answers.
 *
 * Opens a session, then sends requests and notifications of all sizes, at most WINDOW unanswered requests at a time, until
 * both sides together have sent MESSAGES. Every answer must belong to an unanswered request. Prints one JSON object.
 * Gives up after SECONDS. */
#include <poll.h>

#include "spawn.h"

enum { LARGEST = 32 << 10, SLOTS = 1 << 16 };

static char out[1 << 19], in[1 << 20], large[LARGEST + 1];
static size_t out_from, out_to, in_have;
static unsigned char unanswered[SLOTS];
static long sent, requests, answers, errors, others;

static void add(const char *line, size_t size) {
    if (out_from == out_to) out_from = out_to = 0;
    memcpy(out + out_to, line, size);
    out_to += size;
    sent++;
}

static void notify(const char *method, const char *params) {
    char line[512];
    add(line, (size_t)snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s}\n", method, params));
}

static void ask(const char *method, const char *params) {
    static char line[LARGEST + 512];
    long id = requests++;
    unanswered[id % SLOTS] = 1;
    add(line, (size_t)snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"%s\",\"params\":%s}\n", id, method, params));
}

static void ask_echo(int size, const char *meta) {
    static char params[LARGEST + 256];
    snprintf(params, sizeof params, "{\"name\":\"echo\",\"arguments\":{\"message\":\"%.*s\"}%s}", size, large, meta);
    ask("tools/call", params);
}

/* The mixture: of 1,000 messages, 996 are short, 3 of 2 KiB and one of 32 KiB. */
static void next(long n) {
    char text[128];
    if (n % 1000 == 500) return ask_echo(LARGEST - 512, "");
    if (n % 250 == 0) return ask_echo(2048, "");
    switch (n % 8) {
    case 0: return ask("ping", "{}");
    case 1: return ask("tools/list", "{}");
    case 2:
        snprintf(text, sizeof text, ",\"_meta\":{\"progressToken\":%ld}", requests);
        return ask_echo(40, text);
    case 3: return notify("notifications/roots/list_changed", "{}");
    case 4: return ask("resources/read", "{\"uri\":\"file:///home/you/project/notes.md\"}");
    default: return ask_echo(60 + (int)(n % 97), "");
    }
}

static void read_line(char *line) {
    char *id = strstr(line, "\"id\":");
    if (!id || strstr(line, "\"method\":\"")) {
        others++;
        return;
    }
    long number = atol(id + 5);
    if (number < 0 || number >= requests || !unanswered[number % SLOTS]) {
        errno = 0;
        fprintf(stderr, "%.200s\n", line);
        die("answer to no request");
    }
    unanswered[number % SLOTS] = 0;
    answers++;
    errors += strstr(line, "\"error\":{") != NULL;
}

static int read_answers(int fd) {
    ssize_t got = read(fd, in + in_have, sizeof in - 1 - in_have);
    if (got < 0 && errno == EINTR) return 1;
    if (got <= 0) return 0;
    in_have += (size_t)got;
    char *from = in, *end;
    while ((end = memchr(from, '\n', (size_t)(in + in_have - from)))) {
        *end = 0;
        read_line(from);
        from = end + 1;
    }
    in_have -= (size_t)(from - in);
    memmove(in, from, in_have);
    return 1;
}

static void write_out(int fd) {
    ssize_t done = write(fd, out + out_from, out_to - out_from);
    if (done < 0 && errno != EAGAIN && errno != EINTR) die("request");
    if (done > 0) out_from += (size_t)done;
}

static void turn(struct child *c) {
    struct pollfd fds[2] = {{c->from, POLLIN, 0}, {c->to, out_from < out_to ? POLLOUT : 0, 0}};
    if (poll(fds, 2, 30000) == 0) {
        errno = 0;
        die("nothing came for 30 seconds");
    }
    if (fds[1].revents) write_out(c->to);
    if (fds[0].revents && !read_answers(c->from)) {
        errno = 0;
        die("the server ended");
    }
}

static void await_all(struct child *c) {
    while (answers < requests || out_from < out_to) turn(c);
}

static void open_session(struct child *c) {
    ask("initialize", "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"pump\",\"version\":\"1\"}}");
    await_all(c);
    notify("notifications/initialized", "{}");
}

int main(int argc, char **argv) {
    long messages = argc > 4 ? atol(argv[1]) : 0, window = argc > 4 ? atol(argv[2]) : 0;
    if (messages < 1 || window < 1 || window > SLOTS / 2) {
        fprintf(stderr, "usage: pump MESSAGES WINDOW SECONDS CMD...\n");
        return 2;
    }
    for (int i = 0; i < LARGEST; i++) large[i] = "a line of text, "[i % 16];
    struct child c = spawn(argv + 4, (unsigned)atol(argv[3]));
    open_session(&c);
    fcntl(c.to, F_SETFL, O_NONBLOCK);
    int64_t began = now_ns(CLOCK_MONOTONIC);
    for (long n = 0; sent + answers + others < messages;) {
        while (requests - answers < window && out_to < sizeof out - 2 * LARGEST && sent + answers + others < messages) next(n++);
        turn(&c);
        if (out_from == out_to) out_from = out_to = 0;
    }
    await_all(&c);
    double took = (double)(now_ns(CLOCK_MONOTONIC) - began) / 1e9;
    close(c.to);
    while (read_answers(c.from)) {
    }
    struct rusage usage;
    int code = reap(&c, &usage);
    printf("{\"sent\":%ld,\"answers\":%ld,\"errors\":%ld,\"others\":%ld,\"seconds\":%.3f,\"code\":%d}\n", sent, answers, errors, others, took, code);
    return 0;
}
