// What the Glibc module of Swift lacks, and what cannot be called from Swift safely: nothing else is in C.
// No _GNU_SOURCE in this header: it changes types that Swift's Glibc module has too (fd_set, __rusage_who), and a file
// that sees both definitions does not compile. What needs it is a function in CLinux.c.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/// Makes a pipe whose ends are closed on exec. Returns 0, or -1 with errno set.
int clinux_pipe(int ends[2]);

/// From now on the signal writes its number as one byte to the descriptor. One descriptor per process.
void clinux_signal_to(int descriptor, int number);

/// The process's environment, for posix_spawn.
char **clinux_environment(void);

/// Makes standard output line-buffered, so that a reader of a pipe sees each line at once.
void clinux_line_buffered_output(void);

/// The getopt state of the C library, which Swift may not touch directly.
int clinux_optind(void);
int clinux_optopt(void);
void clinux_reset_getopt(void);

/// The name shown for the calling thread in ps and debuggers; at most 15 bytes are kept.
void clinux_name_thread(const char *name);

/// Deletes the folder with everything in it, without following symbolic links. Returns 0, or -1 with errno set.
int clinux_remove_tree(const char *path);

/// Kills the calling process when its parent dies.
void clinux_die_with_parent(void);
char *clinux_optarg(void);

/// From now on large blocks of memory go back to the system when they are freed. Left alone, the C library keeps them
/// after the first ones, in pieces that fit nothing else.
void clinux_return_large_memory(void);

/// The width of a terminal in columns; 0 when the descriptor is none or does not know.
int clinux_columns(int descriptor);

/// Whether a TCP port can be listened on: 0, or the errno. A host that cannot be resolved gives EADDRNOTAVAIL.
int clinux_try_listen(const char *host, const char *port);

/// Takes the exclusive lock of an open file, without waiting: 0, or the errno (EWOULDBLOCK: somebody has it).
int clinux_lock_file(int descriptor);

/// Sends a message to the service manager at a socket in the file system, or an abstract one ("@name"). Returns 0, or the
/// errno.
int clinux_notify(const char *socket_path, const char *message);
