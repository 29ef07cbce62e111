// SPDX-License-Identifier: MIT
// used_tokens.c: a server's memory of tokens. The file is the table itself, mapped: a change costs
// no system call, and outlasts the process however that ends. After a power failure the last
// seconds may be lost.
#include "net/secure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "crypto/crypto.h"

#define MAGIC "foliot-used-tokens-1"
#define ENDIAN_MARK 0x01020304u
#define CAPACITY_MAX (1u << 20)
#define CLIENT_CONNECTIONS 8 // of one client at once
#define CLIENT_PER_SECOND 1  // that it opens, after a burst of 16

typedef struct file_head {
    char magic[24];
    uint32_t endian, entry_bytes, capacity, zero[7];
} file_head;

static size_t size_of(uint32_t capacity)
{
    return sizeof(file_head) + (size_t)capacity * sizeof(foliot__used_token);
}

static file_head head_of(uint32_t capacity)
{
    return (file_head){.magic = MAGIC,
                       .endian = ENDIAN_MARK,
                       .entry_bytes = sizeof(foliot__used_token),
                       .capacity = capacity};
}

static foliot_status map(foliot_used_tokens *used, uint32_t capacity)
{
    used->bytes = size_of(capacity);
    int flags = used->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *block = mmap(NULL, used->bytes, PROT_READ | PROT_WRITE, flags, used->fd, 0);
    if (block == MAP_FAILED)
        return FOLIOT_STATUS_MEMORY;
    madvise(block, used->bytes, MADV_DONTDUMP); // it holds secrets to return by
    used->block = block;
    used->table.entries = (foliot__used_token *)(void *)((uint8_t *)block + sizeof(file_head));
    used->table.capacity = capacity;
    return FOLIOT_STATUS_OK;
}

// How many entries a file has that is there already; 0: it is empty.
static foliot_status read_head(int fd, uint32_t *capacity)
{
    struct stat about;
    file_head head;
    if (fstat(fd, &about) != 0)
        return FOLIOT_STATUS_IO;
    if (!S_ISREG(about.st_mode))
        return FOLIOT_STATUS_CORRUPT;
    if (about.st_mode & 077)
        return FOLIOT_STATUS_REFUSED;
    *capacity = 0;
    if (about.st_size == 0)
        return FOLIOT_STATUS_OK;
    if (pread(fd, &head, sizeof head, 0) != sizeof head)
        return FOLIOT_STATUS_CORRUPT;
    file_head expected = head_of(head.capacity);
    if (memcmp(&head, &expected, sizeof head) != 0 || head.capacity > CAPACITY_MAX ||
        (uint64_t)about.st_size < size_of(head.capacity))
        return FOLIOT_STATUS_CORRUPT;
    *capacity = head.capacity;
    return FOLIOT_STATUS_OK;
}

// All of it gets its blocks now: a full disk must not end the process later.
static foliot_status open_file(foliot_used_tokens *used, const char *file, uint32_t *capacity)
{
    uint32_t there;
    used->fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (used->fd < 0)
        return FOLIOT_STATUS_IO;
    if (flock(used->fd, LOCK_EX | LOCK_NB) != 0)
        return FOLIOT_STATUS_AGAIN;
    foliot_status status = read_head(used->fd, &there);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (there >= *capacity) {
        *capacity = there;
        return FOLIOT_STATUS_OK;
    }
    file_head head = head_of(*capacity);
    foliot__file_guard guard;
    foliot__file_guard_begin(&guard);
    errno = posix_fallocate(used->fd, 0, (off_t)size_of(*capacity));
    bool fine = errno == 0 && pwrite(used->fd, &head, sizeof head, 0) == sizeof head;
    foliot__file_guard_end(&guard);
    if (fine)
        return FOLIOT_STATUS_OK;
    int why = errno;
    if (there == 0) // a part of a new file would be taken for a damaged one later
        (void)!ftruncate(used->fd, 0);
    errno = why;
    return FOLIOT_STATUS_IO;
}

foliot_status foliot_used_tokens_open(const char *file, uint32_t capacity,
                                      foliot_used_tokens **tokens)
{
    if (capacity == 0 || capacity > CAPACITY_MAX)
        return FOLIOT_STATUS_INVALID;
    foliot_used_tokens *used = calloc(1, sizeof *used);
    if (!used)
        return FOLIOT_STATUS_MEMORY;
    used->fd = -1;
    pthread_mutex_init(&used->lock, NULL);
    foliot_transport_config limits = {.peers_max = FOLIOT_PEERS_MAX,
                                      .peers_per_address_max = CLIENT_CONNECTIONS,
                                      .joins_per_second = CLIENT_PER_SECOND};
    foliot_status status = foliot__admission_init(&used->clients, &limits);
    used->shown = calloc(FOLIOT__SHOWN_MAX, sizeof *used->shown);
    if (!used->shown)
        status = FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK && file)
        status = open_file(used, file, &capacity);
    if (status == FOLIOT_STATUS_OK)
        status = map(used, capacity);
    if (status == FOLIOT_STATUS_OK)
        *tokens = used;
    else
        foliot_used_tokens_close(used);
    return status;
}

void foliot_used_tokens_close(foliot_used_tokens *used)
{
    if (!used)
        return;
    if (used->block && used->fd < 0)
        for (uint32_t i = 0; i < used->table.capacity; i++)
            if (used->table.entries[i].keep_until_s) // pages that were never used stay so
                foliot__forget(&used->table.entries[i], sizeof used->table.entries[i]);
    if (used->block)
        munmap(used->block, used->bytes);
    if (used->fd >= 0)
        close(used->fd);
    foliot__admission_close(&used->clients);
    free(used->shown);
    pthread_mutex_destroy(&used->lock);
    free(used);
}

// Linear scans on purpose: few are shown a second, and no hash that an attacker could degrade.
bool foliot__used_tokens_count_shown(foliot_used_tokens *used, const uint8_t *nonce,
                                     uint64_t client, uint64_t now_ns, uint64_t *serial)
{
    foliot__shown *place = NULL;
    *serial = 0;
    if (client == 0)
        return true;
    for (uint32_t i = 0; i < FOLIOT__SHOWN_MAX; i++) {
        foliot__shown *s = &used->shown[i];
        if (s->serial && memcmp(s->nonce, nonce, sizeof s->nonce) == 0) {
            s->serial = *serial = ++used->shown_serial; // the one before ends no count any more
            return true;
        }
        if (!s->serial && !place)
            place = s;
    }
    if (!place || foliot__admit(&used->clients, client, now_ns) != FOLIOT__ADMITTED) {
        used->shown_over++;
        return false;
    }
    *place = (foliot__shown){.serial = ++used->shown_serial, .client = client};
    memcpy(place->nonce, nonce, sizeof place->nonce);
    *serial = place->serial;
    return true;
}

void foliot__used_tokens_end_shown(foliot_used_tokens *used, uint64_t serial)
{
    for (uint32_t i = 0; serial && i < FOLIOT__SHOWN_MAX; i++)
        if (used->shown[i].serial == serial) {
            foliot__admission_release(&used->clients, used->shown[i].client);
            used->shown[i] = (foliot__shown){0};
            return;
        }
}
