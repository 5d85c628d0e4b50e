/* http_server: an MCP server over HTTP as small as one can be, a thread for each connection.
 *
 * Prints its port. Answers every request with an empty result of the same id, an initialize with a session, and what
 * has no id with 202. Connections stay open. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_int sessions;

static int put(int fd, const char *p, size_t n) {
    while (n) {
        ssize_t done = send(fd, p, n, MSG_NOSIGNAL);
        if (done <= 0) return -1;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

static int answer(int fd, const char *body) {
    char reply[1024], json[512], session[64] = "";
    const char *id = strstr(body, "\"id\":");
    if (!id) return put(fd, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", 44);
    const char *result = "{\"content\":[]}";
    if (strstr(body, "\"initialize\"")) {
        result = "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
                 "\"serverInfo\":{\"name\":\"bench\",\"version\":\"1\"}}";
        snprintf(session, sizeof session, "Mcp-Session-Id: bench-%d\r\n", atomic_fetch_add(&sessions, 1));
    }
    int length = snprintf(json, sizeof json, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":%s}", atol(id + 5), result);
    int n = snprintf(reply, sizeof reply, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
                     session, length, json);
    return put(fd, reply, (size_t)n);
}

/* The body's length; a chunked one is not read here. */
static long content_length(const char *head) {
    const char *found = strcasestr(head, "\r\ncontent-length:");
    return found ? atol(found + 17) : 0;
}

static void *connection(void *given) {
    char text[1 << 16];
    size_t have = 0;
    int fd = (int)(long)given, one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (;;) {
        text[have] = 0;
        char *end = strstr(text, "\r\n\r\n");
        size_t whole = end ? (size_t)(end + 4 - text) + (size_t)content_length(text) : sizeof text;
        if (have < whole) {
            ssize_t got = have < sizeof text - 1 ? recv(fd, text + have, sizeof text - 1 - have, 0) : 0;
            if (got <= 0) break;
            have += (size_t)got;
            continue;
        }
        char next = text[whole];
        text[whole] = 0;
        if (answer(fd, end + 4)) break;
        text[whole] = next;
        have -= whole;
        memmove(text, text + whole, have);
    }
    close(fd);
    return NULL;
}

int main(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    if (bind(listener, (struct sockaddr *)&at, size) || listen(listener, 128)) return 1;
    if (getsockname(listener, (struct sockaddr *)&at, &size)) return 1;
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        pthread_t thread;
        if (fd < 0 || pthread_create(&thread, NULL, connection, (void *)(long)fd)) continue;
        pthread_detach(thread);
    }
}
