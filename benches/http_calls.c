/* http_calls PORT CLIENTS CALLS WARMUP CPU: each client opens a session on a connection of its own and makes calls, one
 * after another.
 *
 * Prints one JSON object: the distribution of all round trips in nanoseconds, and calls a second while all clients
 * were at it. The warm-up's calls are made and not counted. CPU -1 leaves the client free. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int port;
static long calls, warmup;
static pthread_barrier_t start;

struct client {
    pthread_t thread;
    int fd;
    long mark;
    char session[128];
    int64_t *took, began, ended;
};

static void die(const char *what) {
    fprintf(stderr, "http_calls: %s: %s\n", what, errno ? strerror(errno) : "failed");
    exit(3);
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Whether a response is whole: by its length, by its last chunk, or because it can have no body. */
static int is_whole(const char *text, size_t have) {
    const char *end = strstr(text, "\r\n\r\n");
    if (!end) return 0;
    const char *length = strcasestr(text, "\r\ncontent-length:");
    if (length && length < end) return have >= (size_t)(end + 4 - text) + (size_t)atol(length + 17);
    const char *chunked = strcasestr(text, "\r\ntransfer-encoding: chunked");
    if (chunked && chunked <= end) return have >= 7 && !strcmp(text + have - 7, "\r\n0\r\n\r\n");
    return 1;
}

/* One request out, one response back. The text is the caller's, ended by NUL. */
static void exchange(struct client *c, const char *body, char *text, size_t size) {
    char request[1024];
    int n = snprintf(request, sizeof request,
                     "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
                     "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n"
                     "%sContent-Length: %zu\r\n\r\n%s",
                     port, c->session, strlen(body), body);
    if (send(c->fd, request, (size_t)n, MSG_NOSIGNAL) != n) die("request");
    size_t have = 0;
    do {
        ssize_t got = recv(c->fd, text + have, size - 1 - have, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) die("answer cut short");
        have += (size_t)got;
        text[have] = 0;
    } while (!is_whole(text, have));
    if (strncmp(text, "HTTP/1.1 20", 11)) {
        fprintf(stderr, "http_calls: answered with %.300s\n", text);
        exit(3);
    }
}

static int64_t call(struct client *c, long id) {
    char body[256], text[16384], want[48];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"tools/call\",\"params\":"
             "{\"name\":\"echo\",\"arguments\":{\"message\":\"client %ld says hello\"}}}",
             id, c->mark);
    int64_t before = now_ns();
    exchange(c, body, text, sizeof text);
    int64_t after = now_ns();
    snprintf(want, sizeof want, "\"id\":%ld,", id);
    if (!strstr(text, want)) {
        errno = 0;
        die("answer to another request");
    }
    return after - before;
}

static void open_session(struct client *c) {
    char text[16384];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    struct timeval limit = {60, 0};
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(c->fd, (struct sockaddr *)&to, sizeof to)) die("connect");
    exchange(c, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}",
             text, sizeof text);
    const char *named = strcasestr(text, "\r\nmcp-session-id:");
    if (named) snprintf(c->session, sizeof c->session, "Mcp-Session-Id:%.*s\r\n", (int)strcspn(named + 17, "\r"), named + 17);
    exchange(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", text, sizeof text);
}

static void *run(void *given) {
    struct client *c = given;
    open_session(c);
    for (long i = 0; i < warmup; i++) call(c, 100000 + i);
    pthread_barrier_wait(&start);
    c->began = now_ns();
    for (long i = 0; i < calls; i++) c->took[i] = call(c, 1000000 + i);
    c->ended = now_ns();
    close(c->fd);
    return NULL;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    long clients = argc == 6 ? atol(argv[2]) : 0;
    if (clients < 1 || (port = atoi(argv[1])) < 1 || (calls = atol(argv[3])) < 1 || (warmup = atol(argv[4])) < 0) {
        fprintf(stderr, "usage: http_calls PORT CLIENTS CALLS WARMUP CPU\n");
        return 2;
    }
    if (atoi(argv[5]) >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(atoi(argv[5]), &set);
        if (sched_setaffinity(0, sizeof set, &set)) die("sched_setaffinity");
    }
    long all = clients * calls;
    int64_t *took = calloc((size_t)all, sizeof *took), sum = 0, began = INT64_MAX, ended = 0;
    struct client *them = calloc((size_t)clients, sizeof *them);
    if (!took || !them) die("calloc");
    pthread_barrier_init(&start, NULL, (unsigned)clients);
    for (long i = 0; i < clients; i++) {
        them[i].mark = i;
        them[i].took = took + i * calls;
        if (pthread_create(&them[i].thread, NULL, run, &them[i])) die("pthread_create");
    }
    for (long i = 0; i < clients; i++) {
        pthread_join(them[i].thread, NULL);
        if (them[i].began < began) began = them[i].began;
        if (them[i].ended > ended) ended = them[i].ended;
    }
    for (long i = 0; i < all; i++) sum += took[i];
    qsort(took, (size_t)all, sizeof *took, by_value);
    printf("{\"calls\":%ld,\"median_ns\":%lld,\"p90_ns\":%lld,\"p99_ns\":%lld,\"mean_ns\":%lld,\"per_second\":%.1f}\n",
           all, (long long)took[all / 2], (long long)took[all * 9 / 10], (long long)took[all * 99 / 100],
           (long long)(sum / all), (double)all * 1e9 / (double)(ended - began));
    return 0;
}
