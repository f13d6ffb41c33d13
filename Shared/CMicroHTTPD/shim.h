// libmicrohttpd for Swift: its variadic functions, which Swift cannot call, with the arguments that are used here.
#pragma once
#include <microhttpd.h>
#include <netdb.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/// Starts a daemon with one thread on a socket that already listens. NULL when it cannot.
static inline struct MHD_Daemon *cmicrohttpd_start(
    int socket, void *context, MHD_AccessHandlerCallback handler, void *(*target)(void *, const char *, struct MHD_Connection *),
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connection, unsigned int connections,
    unsigned int idle_seconds, size_t memory) {
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL, NULL, handler, context,
        MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_URI_LOG_CALLBACK, target, context, MHD_OPTION_NOTIFY_COMPLETED,
        completed, context, MHD_OPTION_NOTIFY_CONNECTION, connection, context, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
        // What level 1 would refuse beside, our own checks do, with an answer that is ours too.
        MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_END);
}

/// From now on the response is sent without chunks, and its connection closed: version 0.9.75 sends the last chunk also
/// in answer to HEAD, and a client that keeps the connection takes it for the next answer.
static inline void cmicrohttpd_send_plain(struct MHD_Response *response) {
    MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/// The connection's socket; -1 if there is none.
static inline int cmicrohttpd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// What MHD_NotifyConnectionCallback stored for the connection.
static inline void *cmicrohttpd_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/// Bytes of the request line and headers as they came.
static inline size_t cmicrohttpd_header_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/// The address of the peer of a socket as text, without the port. Returns 0, or an error of getnameinfo.
static inline int cmicrohttpd_peer(int socket, char *text, size_t size) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getpeername(socket, (struct sockaddr *)&address, &length) != 0) return EAI_SYSTEM;
    return getnameinfo((struct sockaddr *)&address, length, text, (socklen_t)size, NULL, 0, NI_NUMERICHOST);
}

/// The port that a socket is bound to; -1 if it has none.
static inline int cmicrohttpd_port(int socket) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char text[16];
    if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return -1;
    if (getnameinfo((struct sockaddr *)&address, length, NULL, 0, text, sizeof text, NI_NUMERICSERV) != 0) return -1;
    int port = 0;
    for (const char *digit = text; *digit; digit++) port = port * 10 + (*digit - '0');
    return port;
}

/// Calls the iterator with each header field.
static inline int cmicrohttpd_headers(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN iterator, void *context) {
    return MHD_get_connection_values_n(connection, MHD_HEADER_KIND, iterator, context);
}

/// Whether a connection begins; else it ends.
static inline int cmicrohttpd_begins(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}
