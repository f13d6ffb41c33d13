// The bus protocol as far as the C floor speaks it: docs/protocol.md has all of it.
//
// One message is one frame, header and body together. A body above 64 KiB has a frame of its own and is never copied.
#pragma once
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { HELLO = 1, REGISTER = 2, WELCOME = 3, HEARTBEAT = 4, BATCH = 8, SUBMIT = 16, QUERY = 20, ANSWER = 21 };
enum { DISPATCH = 32, NACK = 34, EVENT = 35, EVENT_ACK = 36 };
enum { BODY_FRAME = 1, TERMINAL = 2, TAKES_BATCHES = 128 };
enum { STARTED = 1, DELTA = 4, FINISHED = 7, FAILED = 8 };
enum { INLINE_BODY = 64 * 1024, ACK_ENTRY = 24, RECORD_PREFIX = 8 };

typedef struct __attribute__((packed)) {
    char magic[4];
    uint8_t version, type;
    uint16_t flags;
    uint64_t job_high, job_low; // most significant byte first
    uint32_t generation, attempt;
    uint64_t sequence, value;
} header;
_Static_assert(sizeof(header) == 48, "the header has 48 bytes");

static inline header make_header(uint8_t type) {
    return (header){.magic = {'S', 'K', 'B', '1'}, .version = 1, .type = type};
}

// A job's number lies above the 16 bits of its step.
static inline uint64_t job_number(const header *h) { return be64toh(h->job_low) << 2 >> 18; }
static inline uint64_t job_low(uint64_t number, uint16_t step) {
    return htobe64(0x8000000000000000u | number << 16 | step);
}

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void die(const char *what) {
    fprintf(stderr, "floor: %s: %s\n", what, zmq_strerror(errno));
    exit(2);
}

static inline void *open_socket(int type, const char *endpoint) {
    static void *context;
    if (!context) context = zmq_ctx_new();
    void *socket = zmq_socket(context, type);
    if (!socket) die("zmq_socket");
    int none = 0, on = 1; // no high-water mark: the load generator's window bounds what is under way
    zmq_setsockopt(socket, ZMQ_SNDHWM, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    if (type == ZMQ_ROUTER) zmq_setsockopt(socket, ZMQ_ROUTER_MANDATORY, &on, sizeof on);
    if (type == ZMQ_ROUTER ? zmq_bind(socket, endpoint) : zmq_connect(socket, endpoint)) die(endpoint);
    return socket;
}

static inline void send_frame(void *socket, zmq_msg_t *frame, int flags) {
    while (zmq_msg_send(frame, socket, flags) < 0)
        if (errno != EINTR) die("send");
}

static inline void send_bytes(void *socket, const void *bytes, size_t count, int flags) {
    while (zmq_send(socket, bytes, count, flags) < 0)
        if (errno != EINTR) die("send");
}

// 0: nothing there.
static inline int receive_frame(void *socket, zmq_msg_t *frame, int flags) {
    zmq_msg_init(frame);
    while (zmq_msg_recv(frame, socket, flags) < 0) {
        if (errno == EINTR) continue;
        if (errno == EAGAIN) return 0;
        die("receive");
    }
    return 1;
}

static inline void forget(void *bytes, void *hint) { (void)bytes, (void)hint; }

// `body` must live for ever when it is over 64 KiB: libzmq then sends it from where it is.
static inline void send_message(void *socket, header *h, const void *body, size_t count) {
    zmq_msg_t frame;
    if (count > INLINE_BODY) {
        h->flags |= BODY_FRAME;
        send_bytes(socket, h, sizeof *h, ZMQ_SNDMORE);
        zmq_msg_init_data(&frame, (void *)(uintptr_t)body, count, forget, NULL);
    } else {
        zmq_msg_init_size(&frame, sizeof *h + count);
        memcpy(zmq_msg_data(&frame), h, sizeof *h);
        if (count) memcpy((char *)zmq_msg_data(&frame) + sizeof *h, body, count);
    }
    send_frame(socket, &frame, 0);
}

// The header of a frame; NULL if it is none of ours.
static inline header *header_of(zmq_msg_t *frame) {
    header *h = zmq_msg_data(frame);
    return zmq_msg_size(frame) >= sizeof *h && !memcmp(h->magic, "SKB1", 4) && h->version == 1 ? h : NULL;
}

// The next message of a frame, which is one or a BATCH of them; NULL at the end. `at` begins with 0.
static inline header *next_message(zmq_msg_t *frame, size_t *at, size_t *size) {
    char *start = zmq_msg_data(frame);
    size_t end = zmq_msg_size(frame);
    header *h = header_of(frame);
    if (!h || *at >= end) return NULL;
    if (h->type != BATCH) return *at = end, *size = end, h;
    if (!*at) *at = sizeof *h;
    uint32_t length;
    if (end - *at < sizeof length) return NULL;
    memcpy(&length, start + *at, sizeof length);
    h = (header *)(start + *at + sizeof length);
    *at += sizeof length + length;
    *size = length;
    return *at <= end && length >= sizeof *h ? h : NULL;
}

// Drops the frames that are left of a message whose last read frame is given, and that frame.
static inline void drop_rest(void *socket, zmq_msg_t *frame) {
    int more = zmq_msg_more(frame);
    zmq_msg_close(frame);
    while (more) {
        receive_frame(socket, frame, 0);
        more = zmq_msg_more(frame);
        zmq_msg_close(frame);
    }
}

// A version 7 identifier in canonical form, for JSON bodies; unique enough for processes of one machine.
static inline const char *new_identifier(char text[37]) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000, low = now_ns() << 16;
    snprintf(text, 37, "%08x-%04x-7%03x-8%03x-%08x0000", (unsigned)(ms >> 16), (unsigned)(ms & 0xffff),
             (unsigned)(getpid() & 0xfff), (unsigned)(low >> 48 & 0xfff), (unsigned)(low >> 16));
    return text;
}
