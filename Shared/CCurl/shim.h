#pragma once
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

// One function per type of argument, since Swift cannot call C variadics.

typedef size_t (*ccurl_write_fn)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_write(CURL *handle, ccurl_write_fn function, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
}
static inline CURLcode ccurl_set_header(CURL *handle, ccurl_write_fn function, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, function);
    return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
}
static inline CURLcode ccurl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode ccurl_get_time(CURL *handle, CURLINFO info, double *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode ccurl_result(const CURLMsg *message) { return message->data.result; }
// What a write function returns to be called again with the same bytes after curl_easy_pause(handle, CURLPAUSE_CONT).
static inline size_t ccurl_pause(void) { return CURL_WRITEFUNC_PAUSE; }
static inline CURLcode ccurl_continue(CURL *handle) { return curl_easy_pause(handle, CURLPAUSE_CONT); }
static inline CURLcode ccurl_set_context(CURL *handle, void *context) {
    return curl_easy_setopt(handle, CURLOPT_PRIVATE, context);
}
static inline void *ccurl_context(CURL *handle) {
    char *context = NULL;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &context);
    return context;
}

// Connections to this host only. The address looked at is the one that is connected to, whatever a name resolves to.
static inline int ccurl_is_loopback(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
        return (ntohl(four->sin_addr.s_addr) >> 24) == 127;
    }
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
        static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
        if (memcmp(&six->sin6_addr, mapped, 12) == 0) return six->sin6_addr.s6_addr[12] == 127;
        return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    }
    return 0;
}
static inline curl_socket_t ccurl_open_loopback(void *refused, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    if (!ccurl_is_loopback(&address->addr)) {
        *(int *)refused = 1;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}
// `refused` must live as long as the handle; it becomes 1 when a connection was refused.
static inline CURLcode ccurl_only_loopback(CURL *handle, int *refused) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, ccurl_open_loopback);
    return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, refused);
}

// Keeps an epoll set up to date with what libcurl waits for, so that what happens on one connection costs nothing for each
// of the others. `context` is the descriptor of the set, as an integer.
static inline int ccurl_watch(CURL *handle, curl_socket_t socket, int what, void *context, void *unused) {
    int set = (int)(intptr_t)context;
    struct epoll_event event = {.data.fd = socket};
    (void)handle;
    (void)unused;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(set, EPOLL_CTL_DEL, socket, &event);
        return 0;
    }
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    if (epoll_ctl(set, EPOLL_CTL_ADD, socket, &event) != 0 && errno == EEXIST) epoll_ctl(set, EPOLL_CTL_MOD, socket, &event);
    return 0;
}
static inline CURLMcode ccurl_watch_by(CURLM *multi, int set) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, ccurl_watch);
    return code != CURLM_OK ? code : curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, (void *)(intptr_t)set);
}
