/* SPDX-License-Identifier: Apache-2.0
 *
 * Passing the descriptor of a node's segment from the rank that made it to the others of the node: over a socket with
 * an abstract name that contains a random number, which only the ranks receive (by MPI). Both sides check that the
 * other process belongs to the same user and has the number. The segment has blocks for all ranks of the world, and
 * heaps for those of the node: the blocks of other ranks are replaced by private memory of each process, where it keeps
 * what those ranks have reported.
 */
#include "cluster/spanning.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 60000, RETRY_MS = 2 };

static socklen_t address_of(uint64_t nonce, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "dtensor-%016" PRIx64, nonce);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static bool is_same_user(int fd) {
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

static bool wait_readable(int fd) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, WAIT_MS) == 1;
}

union control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

static bool send_descriptor(int to, int fd, uint64_t nonce) {
    union control control = {{0}};
    struct iovec part = {&nonce, sizeof nonce};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(to, &message, MSG_NOSIGNAL) == sizeof nonce;
}

static int receive_descriptor(int from, uint64_t nonce) {
    union control control;
    uint64_t sent = 0;
    int fd = -1;
    struct iovec part = {&sent, sizeof sent};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    if (!wait_readable(from) || recvmsg(from, &message, MSG_CMSG_CLOEXEC) != sizeof sent)
        return -1;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    if (fd >= 0 && sent != nonce) {
        close(fd);
        errno = EACCES;
        return -1;
    }
    return fd;
}

/* A process that is not a rank of this launch is turned away and does not count. */
static bool serve_one(int listener, int fd, uint64_t nonce) {
    uint64_t sent = 0;
    int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (peer < 0)
        return false;
    bool served = is_same_user(peer) && wait_readable(peer) && recv(peer, &sent, sizeof sent, 0) == sizeof sent &&
                  sent == nonce && send_descriptor(peer, fd, nonce);
    close(peer);
    return served;
}

int dt__node_segment_pass(int n_others, int fd, uint64_t nonce, char *error, size_t error_bytes) {
    struct sockaddr_un address;
    socklen_t bytes = address_of(nonce, &address);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), served = 0;
    bool open =
        listener >= 0 && !bind(listener, (struct sockaddr *)&address, bytes) && !listen(listener, n_others + 1);
    int64_t deadline = dt__now_ns() + WAIT_MS * INT64_C(1000000);
    while (open && served < n_others && dt__now_ns() < deadline && wait_readable(listener))
        served += serve_one(listener, fd, nonce);
    if (served < n_others)
        snprintf(error, error_bytes, "cannot pass the node's shared memory to its ranks: %s", strerror(errno));
    if (listener >= 0)
        close(listener);
    return served < n_others ? -1 : 0;
}

int dt__node_segment_receive(uint64_t nonce, char *error, size_t error_bytes) {
    struct sockaddr_un address;
    socklen_t bytes = address_of(nonce, &address);
    int64_t deadline = dt__now_ns() + WAIT_MS * INT64_C(1000000);
    int fd = -1, peer = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    bool connected = false;
    while (peer >= 0 && !(connected = !connect(peer, (struct sockaddr *)&address, bytes)) &&
           (errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR) && dt__now_ns() < deadline)
        (void)nanosleep(&(struct timespec){.tv_nsec = RETRY_MS * 1000000}, NULL);
    if (connected && is_same_user(peer) && send(peer, &nonce, sizeof nonce, MSG_NOSIGNAL) == sizeof nonce)
        fd = receive_descriptor(peer, nonce);
    if (fd < 0)
        snprintf(error, error_bytes, "cannot receive the shared memory of this node: %s", strerror(errno));
    if (peer >= 0)
        close(peer);
    return fd;
}

bool dt__node_segment_separate(struct dt__segment *segment, const int32_t *node_of, int32_t node) {
    for (int64_t first = 0, last; first < segment->n_ranks; first = last) {
        for (last = first; last < segment->n_ranks && node_of[last] != node;)
            last++;
        if (last > first &&
            mmap(&segment->ranks[first], (size_t)(last - first) * sizeof *segment->ranks, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            return false;
        for (; first < last; first++)
            atomic_store(&segment->ranks[first].state, DT__RANK_READY);
        last += last < segment->n_ranks;
    }
    return true;
}
