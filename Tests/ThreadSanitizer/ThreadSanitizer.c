// What the thread sanitizer has to be told of the Swift standard library's Mutex.
//
// A Mutex is taken and released by a compare-and-swap that is compiled into the caller, where the sanitizer sees it. Only
// under contention it is libswiftSynchronization that takes it, by spinning or by the kernel's FUTEX_LOCK_PI, and that
// library is not instrumented: every value that went through a contended Mutex would be reported as a race. So these two
// functions take the place of the library's, call them, and say what they did: that a lock was taken (what was released
// at this address happened before), and that one is about to be given up. Nothing is hidden: what runs outside of the lock
// is reported as before.
//
// Compiled to next to nothing without the sanitizer.

#define _GNU_SOURCE
#include "ThreadSanitizer.h"

bool thread_sanitizer_is_on(void) { return __has_feature(thread_sanitizer); }

#if __has_feature(thread_sanitizer)
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// <sanitizer/tsan_interface.h> does not come with the toolchain.
void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

// Synchronization._MutexHandle._lockSlow(UInt32) -> () and ._unlockSlow() -> ().
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

static SWIFT void (*library_lock)(uint32_t thread, SELF);
static SWIFT void (*library_unlock)(SELF);

static void *find(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) {
        fprintf(stderr, "This toolchain's Mutex has no %s: look at its locking anew.\n", name);
        abort();
    }
    return function;
}

// Before main, so that no lock has to look for them.
__attribute__((constructor)) static void find_library(void) {
    library_lock = find(LOCK);
    library_unlock = find(UNLOCK);
}

SWIFT void lock_slow(uint32_t thread, SELF) {
    library_lock(thread, self);
    __tsan_acquire(self);
}

SWIFT void unlock_slow(SELF) {
    __tsan_release(self);
    library_unlock(self);
}
#endif
