/* A disk that is watched, and that fails on request: loaded before libc (LD_PRELOAD) into a process of
 * the tests. It logs what is done to files below a folder, and lets the n-th call fail. It is told what
 * to do by readlink("/strandline/.."), whose answer counts the calls of each kind that failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPEN, READ, WRITE, SYNC, TRUNCATE, REMOVE, KINDS };
#define FILES 1024
static char *paths[FILES];
static const char *root;
static int log_to = -1;
static long calls, fail_at, failed[KINDS];
static int fail_with, fail_on;

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static ssize_t put(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return real(fd, data, size);
}

static const char *below(const char *path) {
    if (!root) root = getenv("STRANDLINE_DISK_ROOT");
    if (!root || !path || strncmp(path, root, strlen(root))) return NULL;
    return path;
}

static const char *of(int fd) { return fd >= 0 && fd < FILES ? paths[fd] : NULL; }

static void note(char kind, long a, long b, const char *path) {
    const char *to = getenv("STRANDLINE_DISK_LOG");
    if (!to) return;
    REAL(int, "open64", const char *, int, ...);
    if (log_to < 0) log_to = real(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char line[4500];
    int size = snprintf(line, sizeof line, "%c %ld %ld %s\n", kind, a, b, path);
    put(log_to, line, size);
}

/* Whether this call fails. A full disk fails only what may need space. */
static int fails(int kind, const char *path) {
    if (!path || !fail_at) return 0;
    if (fail_with == ENOSPC && (kind == READ || kind == REMOVE)) return 0;
    calls++;
    if (calls < fail_at || (calls > fail_at && !fail_on)) return 0;
    failed[kind]++;
    errno = fail_with;
    return 1;
}

ssize_t readlink(const char *path, char *out, size_t size) {
    REAL(ssize_t, "readlink", const char *, char *, size_t);
    if (strncmp(path, "/strandline/", 12)) return real(path, out, size);
    if (!strncmp(path + 12, "mark/", 5)) note('M', 0, 0, path + 17);
    if (!strncmp(path + 12, "fail/", 5)) {
        sscanf(path + 17, "%ld/%d/%d", &fail_at, &fail_with, &fail_on);
        if (fail_at) {
            calls = 0;
            memset(failed, 0, sizeof failed);
        }
    }
    char text[200];
    int length = snprintf(text, sizeof text, "%ld %ld %ld %ld %ld %ld %ld", calls, failed[OPEN],
        failed[READ], failed[WRITE], failed[SYNC], failed[TRUNCATE], failed[REMOVE]);
    if ((size_t)length > size) length = size;
    memcpy(out, text, length);
    return length;
}

static int opened(const char *path, int flags, mode_t mode) {
    REAL(int, "open64", const char *, int, ...);
    const char *known = below(path);
    int is_there = !(flags & O_CREAT) || !access(path, F_OK);
    if (fail_with == ENOSPC && is_there) { /* takes no space */ }
    else if (fails(OPEN, known)) return -1;
    int is_new = known && (flags & O_CREAT) && access(path, F_OK);
    int fd = real(path, flags, mode);
    if (fd < 0 || fd >= FILES || !known) return fd;
    free(paths[fd]);
    paths[fd] = strdup(path);
    if (is_new) note('O', 0, 0, path);
    if (!is_new && (flags & O_TRUNC)) note('T', 0, 0, path);
    return fd;
}

#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        return opened(path, flags, mode); \
    }
OPENS(open)
OPENS(open64)

int close(int fd) {
    REAL(int, "close", int);
    if (of(fd)) {
        free(paths[fd]);
        paths[fd] = NULL;
    }
    return real(fd);
}

ssize_t read(int fd, void *out, size_t size) {
    REAL(ssize_t, "read", int, void *, size_t);
    return fails(READ, of(fd)) ? -1 : real(fd, out, size);
}

ssize_t write(int fd, const void *data, size_t size) {
    const char *path = of(fd);
    if (fails(WRITE, path)) return -1;
    off64_t at = path ? lseek64(fd, 0, SEEK_CUR) : 0;
    ssize_t done = put(fd, data, size);
    if (path && done > 0) {
        note('W', at, done, path);
        if (log_to >= 0) put(log_to, data, done);
    }
    return done;
}

static int synced(int fd, int (*real)(int)) {
    const char *path = of(fd);
    if (fails(SYNC, path)) return -1;
    int done = real(fd);
    if (path && !done) note('S', 0, 0, path);
    return done;
}

int fsync(int fd) {
    REAL(int, "fsync", int);
    return synced(fd, real);
}

int fdatasync(int fd) {
    REAL(int, "fdatasync", int);
    return synced(fd, real);
}

static int cut(int fd, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t);
    const char *path = of(fd);
    if (fails(TRUNCATE, path)) return -1;
    int done = real(fd, size);
    if (path && !done) note('T', size, 0, path);
    return done;
}

int ftruncate(int fd, off_t size) { return cut(fd, size); }
int ftruncate64(int fd, off64_t size) { return cut(fd, size); }

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    const char *known = below(path);
    if (fails(REMOVE, known)) return -1;
    int done = real(path);
    if (known && !done) note('U', 0, 0, path);
    return done;
}

/* Both names in one line, apart by a tab. */
static int named(char kind, const char *from, const char *to, int (*real)(const char *, const char *)) {
    const char *known = below(from);
    if (fails(REMOVE, known)) return -1;
    int done = real(from, to);
    char both[4200];
    snprintf(both, sizeof both, "%s\t%s", from, to);
    if (known && !done) note(kind, 0, 0, both);
    return done;
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    return named('R', from, to, real);
}

int link(const char *from, const char *to) {
    REAL(int, "link", const char *, const char *);
    return named('L', from, to, real);
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
    if (a == AT_FDCWD && b == AT_FDCWD) return link(from, to);
    REAL(int, "linkat", int, const char *, int, const char *, int);
    return real(a, from, b, to, flags);
}

static ssize_t written(int fd, const void *data, size_t size, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    const char *path = of(fd);
    if (fails(WRITE, path)) return -1;
    ssize_t done = real(fd, data, size, at);
    if (path && done > 0) {
        note('W', at, done, path);
        if (log_to >= 0) put(log_to, data, done);
    }
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return written(fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { return written(fd, data, size, at); }

static ssize_t got(int fd, void *out, size_t size, off64_t at) {
    REAL(ssize_t, "pread64", int, void *, size_t, off64_t);
    return fails(READ, of(fd)) ? -1 : real(fd, out, size, at);
}

ssize_t pread(int fd, void *out, size_t size, off_t at) { return got(fd, out, size, at); }
ssize_t pread64(int fd, void *out, size_t size, off64_t at) { return got(fd, out, size, at); }
