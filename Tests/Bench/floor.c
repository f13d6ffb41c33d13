// The floor: what libzmq, the kernel and the scheduler cost in the bus's own topology, without any logic.
//
//   floor router  --front ENDPOINT --back ENDPOINT
//   floor worker  --back ENDPOINT [--deltas N] [--name NAME]
//   floor gateway --front ENDPOINT [--in-flight N] [--payload BYTES] [--seconds S] [--workers N]
//                 [--router-pid PID] [--other-pids PID,PID]
//
// Gateway and worker speak enough of the real protocol to work with a real router in the place of this one, so that
// the only difference between two runs is the process that was exchanged. The router here only addresses: it patches
// the header of a job where it lies and moves frames on.
#include "message.h"
#include <getopt.h>
#include <signal.h>
#include <sys/prctl.h>

static const char *front, *back, *name = "bench";
static int in_flight = 1, deltas, workers = 1, router_pid, other_pids[64], other_count;
static size_t payload = 256, event_payload = 64;
static double seconds = 1;
static const uint64_t second = 1000000000;

// ---------------------------------------------------------------- router

typedef struct {
    char identity[256];
    size_t size;
    long outstanding;
    uint64_t dispatches;
    size_t acks;
    char *acknowledged;
} peer;

enum { PEERS = 64, JOBS = 1 << 16 };
static peer peers[PEERS];
static int peer_count;
static uint8_t owner[JOBS]; // which worker has the job with this number

static void greet(void *socket, const void *identity, size_t size) {
    char body[160], id[37];
    int n = snprintf(body, sizeof body,
                     "{\"router\":\"%s\",\"heartbeat\":1000,\"liveness\":3,\"product\":\"floor\"}", new_identifier(id));
    header h = make_header(WELCOME);
    send_bytes(socket, identity, size, ZMQ_SNDMORE);
    send_message(socket, &h, body, (size_t)n);
}

static int peer_index(const void *identity, size_t size) {
    for (int k = 0; k < peer_count; k++)
        if (peers[k].size == size && !memcmp(peers[k].identity, identity, size)) return k;
    return -1;
}

static int least_outstanding(void) {
    static int turn;
    int best = turn % peer_count;
    for (int k = 0; k < peer_count; k++) {
        int candidate = (turn + k) % peer_count;
        if (peers[candidate].outstanding < peers[best].outstanding) best = candidate;
    }
    turn = best + 1;
    return best;
}

// A frame and those that follow it, as they are.
static void move_on(void *from, void *to, zmq_msg_t *frame) {
    for (;;) {
        int more = zmq_msg_more(frame);
        send_frame(to, frame, more ? ZMQ_SNDMORE : 0);
        if (!more) return;
        receive_frame(from, frame, 0);
    }
}

static void from_worker(void *front_socket, void *back_socket, zmq_msg_t *gateway) {
    zmq_msg_t identity, frame;
    for (int turn = 0; turn < 256 && receive_frame(back_socket, &identity, ZMQ_DONTWAIT); turn++) {
        receive_frame(back_socket, &frame, 0);
        header *h = header_of(&frame);
        int k = peer_index(zmq_msg_data(&identity), zmq_msg_size(&identity));
        if (h && h->type == EVENT && k >= 0 && zmq_msg_size(gateway)) {
            if (h->flags & TERMINAL) peers[k].outstanding--;
            send_bytes(front_socket, zmq_msg_data(gateway), zmq_msg_size(gateway), ZMQ_SNDMORE);
            move_on(back_socket, front_socket, &frame);
        } else {
            if (h && h->type == REGISTER && k < 0 && peer_count < PEERS) {
                peer *new = &peers[peer_count++];
                memcpy(new->identity, zmq_msg_data(&identity), new->size = zmq_msg_size(&identity));
                new->acknowledged = malloc(JOBS * ACK_ENTRY);
                greet(back_socket, new->identity, new->size);
            }
            if (h && h->type == NACK) {
                fprintf(stderr, "floor: refused: %.*s\n", (int)(zmq_msg_size(&frame) - sizeof *h), (char *)(h + 1));
                exit(3);
            }
            drop_rest(back_socket, &frame);
        }
        zmq_msg_close(&identity);
    }
}

static void acknowledge(void *back_socket, const char *entries, size_t count) {
    for (size_t k = 0; k < count; k++) {
        header h;
        memcpy(&h.job_high, entries + k * ACK_ENTRY, 16);
        peer *to = &peers[owner[job_number(&h) % JOBS]];
        memcpy(to->acknowledged + to->acks++ * ACK_ENTRY, entries + k * ACK_ENTRY, ACK_ENTRY);
    }
    for (int k = 0; k < peer_count; k++) {
        if (!peers[k].acks) continue;
        header h = make_header(EVENT_ACK);
        send_bytes(back_socket, peers[k].identity, peers[k].size, ZMQ_SNDMORE);
        send_message(back_socket, &h, peers[k].acknowledged, peers[k].acks * ACK_ENTRY);
        peers[k].acks = 0;
    }
}

static void answer(void *front_socket, zmq_msg_t *identity, uint64_t sequence) {
    static const char worker[] = "{\"id\":\"bench\",\"host\":\"localhost\",\"pid\":0,\"credit\":1,\"busy\":0}";
    char body[PEERS * (sizeof worker + 1) + 128];
    size_t n = (size_t)snprintf(body, sizeof body, "{\"skills\":[{\"id\":\"bench\",\"description\":\"\",\"workers\":[");
    for (int k = 0; k < peer_count; k++)
        n += (size_t)snprintf(body + n, sizeof body - n, "%s%s", k ? "," : "", worker);
    n += (size_t)snprintf(body + n, sizeof body - n, "]}]}");
    header h = make_header(ANSWER);
    h.sequence = sequence;
    send_bytes(front_socket, zmq_msg_data(identity), zmq_msg_size(identity), ZMQ_SNDMORE);
    send_message(front_socket, &h, body, n);
}

static void from_gateway(void *front_socket, void *back_socket, zmq_msg_t *gateway) {
    zmq_msg_t identity, frame;
    for (int turn = 0; turn < 256 && receive_frame(front_socket, &identity, ZMQ_DONTWAIT); turn++) {
        receive_frame(front_socket, &frame, 0);
        header *h = header_of(&frame);
        if (h && h->type == SUBMIT && peer_count) {
            int k = least_outstanding();
            owner[job_number(h) % JOBS] = (uint8_t)k;
            peers[k].outstanding++;
            h->type = DISPATCH;
            h->job_low = job_low(job_number(h), 1);
            h->attempt = 1;
            h->sequence = ++peers[k].dispatches;
            send_bytes(back_socket, peers[k].identity, peers[k].size, ZMQ_SNDMORE);
            move_on(front_socket, back_socket, &frame);
        } else {
            if (h && h->type == EVENT_ACK)
                acknowledge(back_socket, (char *)(h + 1), (zmq_msg_size(&frame) - sizeof *h) / ACK_ENTRY);
            if (h && h->type == QUERY) answer(front_socket, &identity, h->sequence);
            if (h && h->type == HELLO) {
                zmq_msg_copy(gateway, &identity);
                greet(front_socket, zmq_msg_data(&identity), zmq_msg_size(&identity));
            }
            drop_rest(front_socket, &frame);
        }
        zmq_msg_close(&identity);
    }
}

static void run_router(void) {
    void *front_socket = open_socket(ZMQ_ROUTER, front), *back_socket = open_socket(ZMQ_ROUTER, back);
    zmq_pollitem_t items[2] = {{back_socket, 0, ZMQ_POLLIN, 0}, {front_socket, 0, ZMQ_POLLIN, 0}};
    zmq_msg_t gateway;
    zmq_msg_init(&gateway);
    for (;;) {
        if (zmq_poll(items, 2, -1) < 0 && errno != EINTR) die("poll");
        if (items[0].revents) from_worker(front_socket, back_socket, &gateway);
        if (items[1].revents) from_gateway(front_socket, back_socket, &gateway);
    }
}

// ---------------------------------------------------------------- worker

enum { SLOTS = 1024 };

static void register_worker(void *socket) {
    char body[1024], id[37];
    int n = snprintf(body, sizeof body,
                     "{\"worker\":\"%s\",\"instance\":\"%s\",\"host\":\"localhost\",\"pid\":%d,\"product\":\"floor\","
                     "\"concurrency\":%d,\"manifests\":[{\"id\":\"bench\",\"description\":\"Answers at once.\","
                     "\"concurrency\":%d,\"cacheTTL\":0}],\"held\":[]}",
                     name, new_identifier(id), getpid(), SLOTS, SLOTS);
    header h = make_header(REGISTER);
    h.flags = TAKES_BATCHES;
    h.value = SLOTS;
    send_message(socket, &h, body, (size_t)n);
}

// The body of an event with one record.
static size_t record(char *body, uint8_t kind, const char *text, size_t size) {
    uint32_t length = (uint32_t)size;
    memcpy(body, &length, 4);
    memcpy(body + 4, (char[4]){(char)kind}, 4);
    memcpy(body + RECORD_PREFIX, text, size);
    return RECORD_PREFIX + size;
}

static void run_worker(void) {
    static const char started[] = "{\"worker\":\"bench\",\"engine\":\"the C floor, without any logic \"}";
    static const char finished[] = "{\"output\":{\"text\":\"\"},\"engine\":\"c\",\"cached\":false,\"milliseconds\":0}";
    void *socket = open_socket(ZMQ_DEALER, back);
    char *text = malloc(event_payload), *bodies[3];
    memset(text, 'e', event_payload);
    size_t sizes[3];
    for (int k = 0; k < 3; k++) bodies[k] = malloc(RECORD_PREFIX + sizeof finished + event_payload);
    sizes[0] = record(bodies[0], STARTED, started, sizeof started - 1);
    sizes[1] = record(bodies[1], DELTA, text, event_payload);
    sizes[2] = record(bodies[2], FINISHED, finished, sizeof finished - 1);

    register_worker(socket);
    uint64_t last_dispatch = 0, next_heartbeat = now_ns() + second;
    zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
    zmq_msg_t frame;
    for (;;) {
        uint64_t now = now_ns();
        if (now >= next_heartbeat) {
            header beat = make_header(HEARTBEAT); // between two jobs every slot is free
            beat.sequence = last_dispatch;
            beat.value = SLOTS;
            send_message(socket, &beat, NULL, 0);
            next_heartbeat = now + second;
        }
        zmq_poll(&item, 1, (long)((next_heartbeat - now) / 1000000) + 1);
        for (int turn = 0; turn < 64 && receive_frame(socket, &frame, ZMQ_DONTWAIT); turn++) {
            size_t at = 0, size;
            for (header *got; (got = next_message(&frame, &at, &size));) {
                if (got->type != DISPATCH) continue;
                header event = *got;
                last_dispatch = event.sequence;
                event.type = EVENT;
                event.value = 1;
                for (int k = 0; k < deltas + 2; k++) {
                    int which = k == 0 ? 0 : k == deltas + 1 ? 2 : 1;
                    event.flags = which == 2 ? TERMINAL : 0;
                    event.sequence = (uint64_t)k + 1;
                    send_message(socket, &event, bodies[which], sizes[which]);
                }
            }
            drop_rest(socket, &frame);
        }
    }
}

// ---------------------------------------------------------------- gateway, and what is measured

enum { SAMPLES = 1 << 21 };
typedef struct {
    uint64_t submitted, done, first_number;
    uint64_t events, delta_bytes;
    uint64_t *sent, *latency, *first;
    size_t latencies, firsts;
    int measuring;
    char *acknowledged;
    size_t acks;
} load;

static double cpu_seconds(pid_t pid) {
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t)) return 0;
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static double percentile(const uint64_t *sorted, size_t count, double part) {
    return count ? (double)sorted[(size_t)((double)(count - 1) * part)] / 1000 : 0;
}

// Waits until as many workers as expected can be given work.
static void wait_for_workers(void *socket) {
    char hello[256], id[37];
    int n = snprintf(hello, sizeof hello,
                     "{\"gateway\":\"bench-%d\",\"instance\":\"%s\",\"host\":\"localhost\",\"pid\":%d,\"product\":\"floor\"}",
                     getpid(), new_identifier(id), getpid());
    header h = make_header(HELLO);
    h.flags = TAKES_BATCHES;
    send_message(socket, &h, hello, (size_t)n);
    zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
    for (int welcome = 0, seen = 0; seen < workers;) {
        if (welcome) {
            header query = make_header(QUERY);
            query.sequence = 1;
            send_message(socket, &query, "{\"ask\":\"skills\"}", 16);
        }
        zmq_poll(&item, 1, 1000);
        zmq_msg_t frame;
        while (receive_frame(socket, &frame, ZMQ_DONTWAIT)) {
            header *got = header_of(&frame);
            if (got && got->type == WELCOME) welcome = 1;
            if (got && got->type == ANSWER) {
                seen = 0;
                char *at = (char *)(got + 1), *end = (char *)got + zmq_msg_size(&frame);
                while ((at = memmem(at, (size_t)(end - at), "\"pid\":", 6))) seen++, at += 6;
            }
            drop_rest(socket, &frame);
        }
        if (seen < workers) nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
}

// A skill's id with its length before it, then fields: number, length, content. 1 is the session, 2 the text.
static char *request_body(size_t *size) {
    char session[37];
    size_t head = 6 + 5 + 36 + 5;
    *size = payload > head ? payload : head;
    char *body = malloc(*size);
    uint32_t lengths[2] = {36, (uint32_t)(*size - head)};
    memcpy(body, "\5bench\1", 7);
    memcpy(body + 7, &lengths[0], 4);
    memcpy(body + 11, new_identifier(session), 36);
    body[47] = 2;
    memcpy(body + 48, &lengths[1], 4);
    memset(body + head, 'p', lengths[1]);
    return body;
}

static void take_event(load *l, const header *h, const char *body, size_t size) {
    uint64_t number = job_number(h) - l->first_number;
    if (number >= l->submitted) return;
    uint64_t now = now_ns(), *sent = &l->sent[number % JOBS], took = now - *sent;
    if (!*sent) return; // the end of a job, sent again
    if (h->sequence <= 1 && l->measuring && l->firsts < SAMPLES) l->first[l->firsts++] = took;
    for (size_t at = 0; at + RECORD_PREFIX <= size;) {
        uint32_t length;
        memcpy(&length, body + at, 4);
        uint8_t kind = (uint8_t)body[at + 4];
        at += RECORD_PREFIX;
        if (kind == DELTA) l->delta_bytes += length;
        if (kind == FAILED) {
            fprintf(stderr, "floor: a job failed: %.*s\n", (int)length, body + at);
            exit(3);
        }
        at += length;
        l->events++;
    }
    if (!(h->flags & TERMINAL)) return;
    l->done++;
    *sent = 0;
    if (l->measuring && l->latencies < SAMPLES) l->latency[l->latencies++] = took;
    char *entry = l->acknowledged + l->acks++ * ACK_ENTRY;
    memcpy(entry, &h->job_high, 16);
    memcpy(entry + 16, &h->generation, 8);
}

static void print_result(load *l, double elapsed, uint64_t jobs, uint64_t events, uint64_t bytes, const double cpu[3]) {
    qsort(l->latency, l->latencies, 8, by_value);
    qsort(l->first, l->firsts, 8, by_value);
    double per_job = jobs ? 1e6 / (double)jobs : 0;
    printf("{\"jobs\":%lu,\"seconds\":%.3f,\"jobs_s\":%.1f,\"events_s\":%.1f,\"delta_bytes_s\":%.1f,\"MB_s\":%.2f,"
           "\"p50_us\":%.1f,\"p99_us\":%.1f,\"first_p50_us\":%.1f,"
           "\"cpu_us_job\":%.3f,\"cpu_gateway_us_job\":%.3f,\"cpu_router_us_job\":%.3f}\n",
           jobs, elapsed, (double)jobs / elapsed, (double)events / elapsed, (double)bytes / elapsed,
           (double)jobs * (double)payload / elapsed / 1e6, percentile(l->latency, l->latencies, 0.5),
           percentile(l->latency, l->latencies, 0.99), percentile(l->first, l->firsts, 0.5),
           (cpu[0] + cpu[1] + cpu[2]) * per_job, cpu[0] * per_job, cpu[1] * per_job);
}

static void read_cpu(double cpu[3]) {
    cpu[0] = cpu_seconds(getpid());
    cpu[1] = router_pid ? cpu_seconds(router_pid) : 0;
    cpu[2] = 0;
    for (int k = 0; k < other_count; k++) cpu[2] += cpu_seconds(other_pids[k]);
}

static void run_gateway(void) {
    void *socket = open_socket(ZMQ_DEALER, front);
    load l = {.sent = malloc(8 * JOBS), .latency = malloc(8 * SAMPLES), .first = malloc(8 * SAMPLES),
              .acknowledged = malloc(JOBS * ACK_ENTRY)};
    size_t size;
    char *body = request_body(&size);
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    header submit = make_header(SUBMIT);
    submit.job_high = htobe64(((uint64_t)wall.tv_sec * 1000) << 16 | 0x7000 | (uint64_t)(getpid() & 0xfff));
    submit.generation = 1;
    l.first_number = 1;
    wait_for_workers(socket);

    uint64_t warm = size > INLINE_BODY ? 40 : (uint64_t)in_flight * 2 > 300 ? (uint64_t)in_flight * 2 : 300;
    uint64_t start = 0, end = 0, jobs = 0, events = 0, bytes = 0, next_heartbeat = now_ns() + second;
    double before[3], after[3];
    zmq_msg_t frame;
    while (!end) {
        uint64_t now = now_ns();
        if (now >= next_heartbeat) {
            header beat = make_header(HEARTBEAT);
            send_message(socket, &beat, NULL, 0);
            next_heartbeat = now + second;
        }
        while (l.submitted - l.done < (uint64_t)in_flight) {
            submit.job_low = job_low(l.first_number + l.submitted, 0);
            submit.flags = 0;
            l.sent[l.submitted++ % JOBS] = now_ns();
            send_message(socket, &submit, body, size);
        }
        int flags = 0; // waits for the first message, then takes what is there
        for (int turn = 0; turn < 256 && receive_frame(socket, &frame, flags); turn++, flags = ZMQ_DONTWAIT) {
            size_t at = 0, count;
            for (header *h; (h = next_message(&frame, &at, &count));) {
                if (h->type == EVENT) take_event(&l, h, (char *)(h + 1), count - sizeof *h);
                if (h->type == NACK) {
                    fprintf(stderr, "floor: refused: %.*s\n", (int)(count - sizeof *h), (char *)(h + 1));
                    exit(3);
                }
            }
            drop_rest(socket, &frame);
        }
        if (l.acks) {
            header ack = make_header(EVENT_ACK);
            send_message(socket, &ack, l.acknowledged, l.acks * ACK_ENTRY);
            l.acks = 0;
        }
        now = now_ns();
        if (!l.measuring && l.done >= warm) {
            l.measuring = 1, start = now, jobs = l.done, events = l.events, bytes = l.delta_bytes;
            read_cpu(before);
        } else if (l.measuring && (double)(now - start) >= seconds * 1e9) {
            end = now;
        }
    }
    read_cpu(after);
    for (int k = 0; k < 3; k++) after[k] -= before[k];
    print_result(&l, (double)(end - start) * 1e-9, l.done - jobs, l.events - events, l.delta_bytes - bytes, after);
}

int main(int count, char **words) {
    static const struct option options[] = {
        {"front", 1, 0, 'f'},   {"back", 1, 0, 'b'},    {"in-flight", 1, 0, 'i'},  {"deltas", 1, 0, 'd'},
        {"workers", 1, 0, 'w'}, {"payload", 1, 0, 'p'}, {"seconds", 1, 0, 's'},    {"name", 1, 0, 'n'},
        {"router-pid", 1, 0, 'r'}, {"other-pids", 1, 0, 'o'}, {0, 0, 0, 0}};
    for (int found; (found = getopt_long(count, words, "", options, NULL)) != -1;) {
        if (found == '?') return 1;
        switch (found) {
        case 'f': front = optarg; break;
        case 'b': back = optarg; break;
        case 'n': name = optarg; break;
        case 'i': in_flight = atoi(optarg); break;
        case 'd': deltas = atoi(optarg); break;
        case 'w': workers = atoi(optarg); break;
        case 'p': payload = (size_t)atol(optarg); break;
        case 's': seconds = atof(optarg); break;
        case 'r': router_pid = atoi(optarg); break;
        case 'o':
            for (char *word = strtok(optarg, ","); word && other_count < 64; word = strtok(NULL, ","))
                other_pids[other_count++] = atoi(word);
        }
    }
    const char *role = optind < count ? words[optind] : "";
    int is_router = !strcmp(role, "router"), is_worker = !strcmp(role, "worker"), is_gateway = !strcmp(role, "gateway");
    if (!(is_router && front && back) && !(is_worker && back) && !(is_gateway && front && in_flight > 0)) {
        fprintf(stderr, "usage: floor router --front E --back E | worker --back E | gateway --front E; see floor.c\n");
        return 1;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm((unsigned)seconds + 60);
    if (is_router) run_router();
    if (is_worker) run_worker();
    if (is_gateway) run_gateway();
    return 0;
}
