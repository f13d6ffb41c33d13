#define _GNU_SOURCE
#include <malloc.h>
#include "CLinux.h"

#include <netdb.h>
#include <ftw.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

extern char **environ;

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

static int signal_descriptor = -1;

static void on_signal(int number) {
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t ignored = write(signal_descriptor, &byte, 1);
    (void)ignored;
    errno = saved;
}

void clinux_signal_to(int descriptor, int number) {
    signal_descriptor = descriptor;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

char **clinux_environment(void) { return environ; }

void clinux_line_buffered_output(void) { setvbuf(stdout, NULL, _IOLBF, 0); }

int clinux_optind(void) { return optind; }
int clinux_optopt(void) { return optopt; }
// 0 makes glibc's getopt start anew, also in the middle of a cluster of short options.
void clinux_reset_getopt(void) { optind = 0; opterr = 0; }

void clinux_name_thread(const char *name) {
    char kept[16];
    strncpy(kept, name, sizeof kept - 1);
    kept[sizeof kept - 1] = 0;
    pthread_setname_np(pthread_self(), kept);
}

void clinux_die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }
char *clinux_optarg(void) { return optarg; }

int clinux_columns(int descriptor) {
    struct winsize size = {0};
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int clinux_try_listen(const char *host, const char *port) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, port, &hints, &found) != 0) return EADDRNOTAVAIL;
    int result = EADDRNOTAVAIL;
    for (struct addrinfo *each = found; each; each = each->ai_next) {
        int descriptor = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (descriptor < 0) {
            result = errno;
            continue;
        }
        // As servers do: connections of a server that has ended must not count as in use.
        int on = 1;
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        int failed = bind(descriptor, each->ai_addr, each->ai_addrlen) != 0 || listen(descriptor, 1) != 0;
        result = failed ? errno : 0;
        close(descriptor);
        break;
    }
    freeaddrinfo(found);
    return result;
}

int clinux_lock_file(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno; }
static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *position) {
    (void)status;
    (void)kind;
    (void)position;
    return remove(path);
}

int clinux_remove_tree(const char *path) { return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

void clinux_return_large_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
}

int clinux_notify(const char *socket_path, const char *message) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(socket_path);
    if (length >= sizeof address.sun_path) return ENAMETOOLONG;
    memcpy(address.sun_path, socket_path, length);
    if (socket_path[0] == '@') address.sun_path[0] = 0;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    ssize_t sent = sendto(descriptor, message, strlen(message), MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    int failure = sent < 0 ? errno : 0;
    close(descriptor);
    return failure;
}
