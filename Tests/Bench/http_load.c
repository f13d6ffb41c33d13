// Clients of a gateway: each has a session, follows its events, and asks again as soon as a request has ended.
//
//   http_load --port PORT [--clients N] [--seconds S] [--pids PID,PID]
//
// Prints requests a second, the time from sending a request to its first job event, and to its end.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static int port, clients = 1, pids[16], pid_count;
static double seconds = 2;
static atomic_int measuring, over;

enum { SAMPLES = 1 << 16 };
typedef struct {
    uint64_t *first, *whole;
    size_t firsts, wholes;
} samples;

// Bytes of a connection, read ahead; `left` is what remains of the current chunk of a chunked body.
typedef struct {
    int fd;
    char bytes[65536];
    size_t from, to, left;
    int chunked;
} stream;

static void die(const char *what) {
    fprintf(stderr, "http_load: %s: %s\n", what, strerror(errno));
    exit(2);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void open_stream(stream *s) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    s->from = s->to = s->left = 0;
    s->chunked = 0;
    if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&to, sizeof to)) die("connect");
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int raw_byte(stream *s) {
    if (s->from == s->to) {
        ssize_t n;
        while ((n = read(s->fd, s->bytes, sizeof s->bytes)) < 0 && errno == EINTR) {}
        if (n <= 0) return -1;
        s->from = 0, s->to = (size_t)n;
    }
    return (unsigned char)s->bytes[s->from++];
}

// A line of the protocol itself, without its end.
static int raw_line(stream *s, char *line, size_t size) {
    size_t n = 0;
    for (int byte; (byte = raw_byte(s)) >= 0;) {
        if (byte == '\n') {
            if (n && line[n - 1] == '\r') n--;
            line[n] = 0;
            return 1;
        }
        if (n + 1 < size) line[n++] = (char)byte;
    }
    return 0;
}

static int body_byte(stream *s) {
    if (s->chunked && s->left == 0) {
        char line[64];
        do {
            if (!raw_line(s, line, sizeof line)) return -1;
        } while (!*line);
        s->left = strtoul(line, NULL, 16);
        if (!s->left) return -1;
    }
    s->left--;
    return raw_byte(s);
}

static int body_line(stream *s, char *line, size_t size) {
    size_t n = 0;
    for (int byte; (byte = body_byte(s)) >= 0 && byte != '\n';)
        if (n + 1 < size) line[n++] = (char)byte;
    line[n] = 0;
    return s->to > 0;
}

// Reads the head of an answer and returns its status. What is left of the body is in `left`.
static int read_head(stream *s) {
    char line[1024];
    int status = 0;
    s->left = 0, s->chunked = 0;
    if (!raw_line(s, line, sizeof line) || sscanf(line, "HTTP/1.1 %d", &status) != 1) return 0;
    while (raw_line(s, line, sizeof line) && *line) {
        if (!strncasecmp(line, "Content-Length:", 15)) s->left = strtoul(line + 15, NULL, 10);
        if (!strncasecmp(line, "Transfer-Encoding:", 18)) s->chunked = 1;
    }
    return status;
}

static int post(stream *s, const char *path, const char *body, char *answer, size_t size) {
    char text[4096];
    int n = snprintf(text, sizeof text,
                     "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     path, port, strlen(body), body);
    if (write(s->fd, text, (size_t)n) != n) die("write");
    int status = read_head(s);
    size_t got = 0;
    if (s->chunked) {
        for (int byte; (byte = body_byte(s)) >= 0;)
            if (got + 1 < size) answer[got++] = (char)byte;
    } else {
        for (; s->left; s->left--) {
            int byte = raw_byte(s);
            if (byte >= 0 && got + 1 < size) answer[got++] = (char)byte;
        }
    }
    answer[got] = 0;
    return status;
}

static void *client(void *context) {
    samples *mine = context;
    stream *calls = malloc(sizeof *calls), *events = malloc(sizeof *events);
    char answer[8192], path[128], line[8192], session[64] = "", text[256];
    open_stream(calls);
    int status = post(calls, "/v1/sessions", "{}", answer, sizeof answer);
    char *id = strstr(answer, "\"id\":\"");
    if (status != 201 || !id) {
        fprintf(stderr, "http_load: no session: %d %s\n", status, answer);
        exit(3);
    }
    snprintf(session, sizeof session, "%.36s", id + 6);
    open_stream(events);
    int n = snprintf(text, sizeof text, "GET /v1/sessions/%s/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", session, port);
    if (write(events->fd, text, (size_t)n) != n || read_head(events) != 200) die("events");
    snprintf(path, sizeof path, "/v1/sessions/%s/requests", session);
    while (!over) {
        uint64_t start = now_ns();
        int counts = measuring;
        status = post(calls, path, "{\"skill\":\"bench\",\"text\":\"How long does it take?\"}", answer, sizeof answer);
        if (status != 202) {
            fprintf(stderr, "http_load: request refused: %d %s\n", status, answer);
            exit(3);
        }
        for (int is_first = 1;;) {
            if (!body_line(events, line, sizeof line)) die("the event stream ended");
            if (strncmp(line, "event:", 6)) continue;
            if (is_first && strstr(line, "job.")) {
                is_first = 0;
                if (counts && mine->firsts < SAMPLES) mine->first[mine->firsts++] = now_ns() - start;
            }
            if (strstr(line, "request.finished")) break;
            if (strstr(line, "request.failed") || strstr(line, "request.cancelled")) {
                body_line(events, line, sizeof line);
                fprintf(stderr, "http_load: request failed: %s\n", line);
                exit(3);
            }
        }
        if (counts && !over && mine->wholes < SAMPLES) mine->whole[mine->wholes++] = now_ns() - start;
    }
    return NULL;
}

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static double percentile(uint64_t *sorted, size_t count, double part) {
    return count ? (double)sorted[(size_t)((double)(count - 1) * part)] / 1000 : 0;
}

static double cpu_seconds(void) {
    double sum = 0;
    for (int k = 0; k < pid_count; k++) {
        clockid_t clock;
        struct timespec t;
        if (!clock_getcpuclockid(pids[k], &clock) && !clock_gettime(clock, &t))
            sum += (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
    }
    return sum;
}

static void pause_for(double length) {
    struct timespec t = {(time_t)length, (long)((length - (double)(time_t)length) * 1e9)};
    nanosleep(&t, NULL);
}

int main(int count, char **words) {
    static const struct option options[] = {
        {"port", 1, 0, 'p'}, {"clients", 1, 0, 'c'}, {"seconds", 1, 0, 's'}, {"pids", 1, 0, 'o'}, {0, 0, 0, 0}};
    for (int found; (found = getopt_long(count, words, "", options, NULL)) != -1;) {
        switch (found) {
        case 'p': port = atoi(optarg); break;
        case 'c': clients = atoi(optarg); break;
        case 's': seconds = atof(optarg); break;
        case 'o':
            for (char *word = strtok(optarg, ","); word && pid_count < 16; word = strtok(NULL, ","))
                pids[pid_count++] = atoi(word);
            break;
        default: return 1;
        }
    }
    if (!port || clients < 1) return 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    alarm((unsigned)seconds + 60);
    samples *all = calloc((size_t)clients, sizeof *all);
    for (int k = 0; k < clients; k++) {
        pthread_t thread;
        all[k].first = malloc(8 * SAMPLES), all[k].whole = malloc(8 * SAMPLES);
        if (pthread_create(&thread, NULL, client, &all[k])) die("pthread_create");
    }
    pause_for(0.7); // sessions are made, streams are open, caches are warm
    double before = cpu_seconds();
    uint64_t start = now_ns();
    measuring = 1;
    pause_for(seconds);
    over = 1;
    double elapsed = (double)(now_ns() - start) * 1e-9, cpu = cpu_seconds() - before;
    uint64_t *first = malloc(8 * SAMPLES * (size_t)clients), *whole = malloc(8 * SAMPLES * (size_t)clients);
    size_t firsts = 0, wholes = 0;
    for (int k = 0; k < clients; k++) {
        memcpy(first + firsts, all[k].first, 8 * all[k].firsts), firsts += all[k].firsts;
        memcpy(whole + wholes, all[k].whole, 8 * all[k].wholes), wholes += all[k].wholes;
    }
    qsort(first, firsts, 8, by_value);
    qsort(whole, wholes, 8, by_value);
    printf("{\"requests\":%zu,\"requests_s\":%.1f,\"first_p50_us\":%.1f,\"first_p99_us\":%.1f,\"p50_us\":%.1f,"
           "\"p99_us\":%.1f,\"cpu_us_request\":%.1f}\n",
           wholes, (double)wholes / elapsed, percentile(first, firsts, 0.5), percentile(first, firsts, 0.99),
           percentile(whole, wholes, 0.5), percentile(whole, wholes, 0.99), wholes ? cpu * 1e6 / (double)wholes : 0);
    return 0;
}
