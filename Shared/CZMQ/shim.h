#pragma once
#include <zmq.h>

/// Who a message is from, as the ZAP handler has said of its connection; NULL without a mechanism that says so. Not
/// of a ROUTER's first frame: libzmq 4.3.4 does not know it there after a poll.
static inline const char *czmq_user(zmq_msg_t *message) { return zmq_msg_gets(message, "User-Id"); }
