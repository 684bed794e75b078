/* An OpenAI-compatible streaming server whose log says when each byte was really written.
 *
 * One thread, epoll, a timerfd with absolute deadlines. Every completion gets `max_tokens` tokens: the first
 * `--ttft-us` after the request was read, then `--tokens-per-chunk` a chunk every `--gap-us` a token. Deadlines
 * count from the request, so that a late chunk does not delay the next.
 *
 *   cc -O2 -o truth_server truth_server.c && ./truth_server --log truth.csv
 *
 * The first line of standard output is the port. SIGTERM writes the log out and ends it. One line a request:
 *   id,received_ns,first_ns,last_ns,tokens,ending,offsets_us
 * Nanoseconds are of CLOCK_MONOTONIC, read after the write returned; received_ns when the request's last byte was
 * read; ending is ok, failed, dropped or left (the client went away); offsets_us are those of every chunk with
 * tokens after first_ns, with spaces between.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

typedef int64_t ns_t;

enum { NOT_WAITING = -1, ROUND = 128, EVENTS = 256, MOST_TOKENS = 1 << 20, HEAP = 1 << 16 };

typedef struct {
    char *bytes;
    size_t length, room;
} text_t;

typedef struct connection {
    int fd, place; /* place in the heap, NOT_WAITING while no request is under way */
    text_t in, out;
    int wants_room, chat, usage, drops;
    long id;
    int tokens, sent, chunks;
    ns_t received, first, last, due;
    int64_t *stamps;
    int stamps_room;
    struct connection *next_dead;
} connection_t;

static struct {
    int port, early_role, tokens_per_chunk, no_usage, fail_every, drop_every;
    ns_t ttft, gap;
    const char *log;
} set = {0, 0, 1, 0, 0, 0, 100000000, 20000000, NULL};

static connection_t *heap[HEAP], *dead;
static int waiting, poll_fd;
static long requests;
static FILE *out_log;
static volatile sig_atomic_t stopped;

static ns_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* The heap of deadlines. */

static void place(int at, connection_t *c) {
    heap[at] = c;
    c->place = at;
}

static void sift(int at) {
    connection_t *c = heap[at];
    while (at > 0 && c->due < heap[(at - 1) / 2]->due) {
        place(at, heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        int child = 2 * at + 1;
        if (child + 1 < waiting && heap[child + 1]->due < heap[child]->due) child++;
        if (child >= waiting || heap[child]->due >= c->due) break;
        place(at, heap[child]);
        at = child;
    }
    place(at, c);
}

static void wait_until(connection_t *c, ns_t due) {
    c->due = due;
    if (c->place == NOT_WAITING) {
        if (waiting == HEAP) abort();
        place(waiting++, c);
    }
    sift(c->place);
}

static void wait_no_more(connection_t *c) {
    int at = c->place;
    if (at == NOT_WAITING) return;
    c->place = NOT_WAITING;
    if (at != --waiting) {
        place(at, heap[waiting]);
        sift(at);
    }
}

/* Bytes. */

static void add(text_t *t, const char *bytes, size_t length) {
    if (t->length + length + 1 > t->room) {
        t->room = 2 * (t->length + length) + 256;
        t->bytes = realloc(t->bytes, t->room);
        if (!t->bytes) abort();
    }
    memcpy(t->bytes + t->length, bytes, length);
    t->length += length;
    t->bytes[t->length] = 0;
}

static void drop_front(text_t *t, size_t length) {
    if (!length) return;
    memmove(t->bytes, t->bytes + length, t->length - length + 1);
    t->length -= length;
}

static void flush(connection_t *c) {
    size_t done = 0;
    while (done < c->out.length) {
        ssize_t n = send(c->fd, c->out.bytes + done, c->out.length - done, MSG_NOSIGNAL);
        if (n <= 0) break; /* a broken connection is heard of by epoll */
        done += (size_t)n;
    }
    drop_front(&c->out, done);
    int wants = c->out.length > 0;
    if (wants != c->wants_room) {
        c->wants_room = wants;
        struct epoll_event e = {.events = EPOLLIN | (wants ? EPOLLOUT : 0), .data.ptr = c};
        epoll_ctl(poll_fd, EPOLL_CTL_MOD, c->fd, &e);
    }
}

/* A response. */

static void event(connection_t *c, const char *data) {
    char size[24];
    size_t length = strlen(data) + 8; /* "data: " and two line feeds */
    add(&c->out, size, (size_t)snprintf(size, sizeof size, "%zx\r\ndata: ", length));
    add(&c->out, data, strlen(data));
    add(&c->out, "\n\n\r\n", 4);
}

static void begin_stream(connection_t *c) {
    static const char head[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
    char data[256];
    add(&c->out, head, sizeof head - 1);
    if (!c->chat) return;
    snprintf(data, sizeof data,
             "{\"id\":\"truth-%ld\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"truth\",\"choices\":"
             "[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}",
             c->id);
    event(c, data);
}

static void add_tokens(connection_t *c) {
    char data[768], words[256] = "";
    int count = set.tokens_per_chunk;
    if (count > c->tokens - c->sent) count = c->tokens - c->sent;
    for (int i = 0; i < count; i++) strcat(words, " so");
    c->sent += count;
    const char *finish = c->sent == c->tokens ? "\"length\"" : "null";
    snprintf(data, sizeof data,
             c->chat ? "{\"id\":\"truth-%ld\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"truth\","
                       "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"finish_reason\":%s}]}"
                     : "{\"id\":\"truth-%ld\",\"object\":\"text_completion\",\"created\":1,\"model\":\"truth\","
                       "\"choices\":[{\"index\":0,\"text\":\"%s\",\"finish_reason\":%s}]}",
             c->id, words, finish);
    event(c, data);
}

static void end_stream(connection_t *c) {
    char data[256];
    if (c->usage && !set.no_usage) {
        snprintf(data, sizeof data,
                 "{\"id\":\"truth-%ld\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"truth\",\"choices\":[],"
                 "\"usage\":{\"prompt_tokens\":64,\"total_tokens\":%d,\"completion_tokens\":%d}}",
                 c->id, 64 + c->sent, c->sent);
        event(c, data);
    }
    event(c, "[DONE]");
    add(&c->out, "0\r\n\r\n", 5);
}

static void written(connection_t *c) {
    c->last = now();
    if (c->chunks == 0) c->first = c->last;
    if (c->chunks == c->stamps_room) {
        c->stamps_room = 2 * c->stamps_room + 64;
        c->stamps = realloc(c->stamps, (size_t)c->stamps_room * sizeof *c->stamps);
        if (!c->stamps) abort();
    }
    c->stamps[c->chunks++] = (c->last - c->first) / 1000;
}

static void finished(connection_t *c, const char *ending) {
    wait_no_more(c);
    if (!out_log) return;
    fprintf(out_log, "%ld,%lld,%lld,%lld,%d,%s,", c->id, (long long)c->received, (long long)c->first,
            (long long)c->last, c->sent, ending);
    for (int i = 0; i < c->chunks; i++) fprintf(out_log, i ? " %lld" : "%lld", (long long)c->stamps[i]);
    fputc('\n', out_log);
}

/* Until the next round, since events for it may still be in hand. */
static void bury(connection_t *c) {
    close(c->fd);
    c->fd = -1;
    c->next_dead = dead;
    dead = c;
}

static void free_dead(void) {
    while (dead) {
        connection_t *c = dead;
        dead = c->next_dead;
        free(c->in.bytes), free(c->out.bytes), free(c->stamps), free(c);
    }
}

static void next_chunk(connection_t *c) {
    if (c->drops && c->sent >= c->tokens / 2) {
        finished(c, "dropped");
        bury(c);
        return;
    }
    if (c->sent == 0 && !set.early_role) begin_stream(c);
    add_tokens(c);
    int last = c->sent == c->tokens;
    if (last) end_stream(c);
    flush(c);
    written(c);
    if (last)
        finished(c, "ok");
    else
        wait_until(c, c->received + set.ttft + c->sent * set.gap);
}

/* A request. */

static int number_after(const char *body, const char *key) {
    const char *at = strstr(body, key);
    if (!at) return 0;
    at += strlen(key);
    while (*at == ' ' || *at == ':') at++;
    return atoi(at);
}

static void answer(connection_t *c, const char *status, const char *body) {
    char head[160];
    add(&c->out, head,
        (size_t)snprintf(head, sizeof head, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                         status, strlen(body)));
    add(&c->out, body, strlen(body));
    flush(c);
}

static void begin(connection_t *c, int chat, const char *body) {
    c->id = ++requests;
    c->received = now();
    c->first = c->last = 0;
    c->sent = c->chunks = 0;
    c->chat = chat;
    c->usage = strstr(body, "include_usage") != NULL;
    c->drops = set.drop_every && c->id % set.drop_every == 0;
    c->tokens = number_after(body, "\"max_tokens\"");
    if (c->tokens < 1 || c->tokens > MOST_TOKENS) {
        answer(c, "400 Bad Request", "{\"error\":{\"message\":\"max_tokens is needed\",\"code\":400}}");
        finished(c, "failed");
    } else if (set.fail_every && c->id % set.fail_every == 0) {
        answer(c, "500 Internal Server Error", "{\"error\":{\"message\":\"as asked\",\"code\":500}}");
        finished(c, "failed");
    } else {
        if (set.early_role) {
            begin_stream(c);
            flush(c);
        }
        wait_until(c, c->received + set.ttft);
    }
}

static void read_requests(connection_t *c) {
    while (c->place == NOT_WAITING && c->in.length) {
        char *end = strstr(c->in.bytes, "\r\n\r\n");
        if (!end) return;
        char *length = strcasestr(c->in.bytes, "\r\ncontent-length:");
        size_t body = length && length < end ? strtoul(length + 17, NULL, 10) : 0;
        size_t whole = (size_t)(end + 4 - c->in.bytes) + body;
        if (c->in.length < whole) return;
        char kept = c->in.bytes[whole];
        c->in.bytes[whole] = 0;
        if (strncmp(c->in.bytes, "POST /v1/chat/completions ", 26) == 0)
            begin(c, 1, end + 4);
        else if (strncmp(c->in.bytes, "POST /v1/completions ", 21) == 0)
            begin(c, 0, end + 4);
        else
            answer(c, "404 Not Found", "{\"error\":{\"message\":\"no such path\",\"code\":404}}");
        c->in.bytes[whole] = kept;
        drop_front(&c->in, whole);
    }
}

static void hear(connection_t *c) {
    char piece[1 << 16];
    for (;;) {
        ssize_t n = recv(c->fd, piece, sizeof piece, 0);
        if (n > 0) {
            add(&c->in, piece, (size_t)n);
        } else if (n < 0 && errno == EAGAIN) {
            read_requests(c);
            return;
        } else {
            if (c->place != NOT_WAITING) finished(c, "left");
            bury(c);
            return;
        }
    }
}

static void welcome(int listener) {
    int fd, on = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        connection_t *c = calloc(1, sizeof *c);
        if (!c) abort();
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        c->fd = fd;
        c->place = NOT_WAITING;
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &e);
    }
}

static void stop(int signal_number) {
    (void)signal_number;
    stopped = 1;
}

static int listening(void) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)set.port)};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (void *)&address, sizeof address) || listen(fd, 4096)) {
        perror("truth_server");
        exit(1);
    }
    getsockname(fd, (void *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void arguments(int count, char **given) {
    for (int i = 1; i < count; i++) {
        const char *name = given[i], *value = i + 1 < count ? given[i + 1] : "";
        if (!strcmp(name, "--early-role")) set.early_role = 1;
        else if (!strcmp(name, "--no-usage")) set.no_usage = 1;
        else {
            i++;
            if (!strcmp(name, "--port")) set.port = atoi(value);
            else if (!strcmp(name, "--ttft-us")) set.ttft = atoll(value) * 1000;
            else if (!strcmp(name, "--gap-us")) set.gap = atoll(value) * 1000;
            else if (!strcmp(name, "--tokens-per-chunk")) set.tokens_per_chunk = atoi(value);
            else if (!strcmp(name, "--fail-every")) set.fail_every = atoi(value);
            else if (!strcmp(name, "--drop-every")) set.drop_every = atoi(value);
            else if (!strcmp(name, "--log")) set.log = value;
            else {
                fprintf(stderr, "truth_server: unknown option %s\n", name);
                exit(2);
            }
        }
    }
    if (set.tokens_per_chunk < 1 || set.tokens_per_chunk > 64) set.tokens_per_chunk = 1;
}

int main(int count, char **given) {
    arguments(count, given);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, stop);
    if (set.log && !(out_log = fopen(set.log, "w"))) return 1;
    if (out_log) fprintf(out_log, "id,received_ns,first_ns,last_ns,tokens,ending,offsets_us\n");
    static int listener_mark, timer_mark;
    int listener = listening(), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = &listener_mark};
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &e);
    e.data.ptr = &timer_mark;
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, timer, &e);
    while (!stopped) {
        for (int i = 0; i < ROUND && waiting && heap[0]->due <= now(); i++) next_chunk(heap[0]);
        free_dead();
        int behind = waiting && heap[0]->due <= now();
        if (waiting && !behind) {
            struct itimerspec t = {.it_value = {heap[0]->due / 1000000000, heap[0]->due % 1000000000}};
            timerfd_settime(timer, TFD_TIMER_ABSTIME, &t, NULL);
        }
        struct epoll_event events[EVENTS];
        int found = epoll_wait(poll_fd, events, EVENTS, behind ? 0 : -1);
        for (int i = 0; i < found; i++) {
            connection_t *c = events[i].data.ptr;
            if (events[i].data.ptr == &listener_mark) {
                welcome(listener);
            } else if (events[i].data.ptr == &timer_mark) {
                uint64_t times;
                if (read(timer, &times, sizeof times) < 0) continue;
            } else if (c->fd >= 0) {
                if (events[i].events & EPOLLOUT) flush(c);
                if (events[i].events & ~(uint32_t)EPOLLOUT) hear(c);
            }
        }
    }
    if (out_log) fclose(out_log);
    return 0;
}
