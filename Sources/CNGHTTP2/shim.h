#pragma once
#include <nghttp2/nghttp2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The memory of one nghttp2 session.
//
// A stream takes some pieces of a few hundred bytes, and thousands of streams wait for their answers. The system's allocator looks at
// neighbours of what is freed, to join them: by then nothing of them is in the processor's caches. Here a piece goes back to those of its
// size as it is, and is the next one to be given out. All of it is given back with the session; until then it keeps what it once needed.

enum {
    // Sizes are rounded up to these steps…
    session_memory_step = 32,
    // …and what is larger than the largest of them, as a buffer of nghttp2's is, comes from the system.
    session_memory_classes = 32,
    // In front of each piece; it keeps pieces aligned as malloc does.
    session_memory_head = 16,
    // The first slab has room for the streams of a connection that is little used, the largest for some dozen.
    session_memory_first_slab = 4096,
    session_memory_largest_slab = 32768,
};

typedef struct session_memory_slab {
    struct session_memory_slab *next;
    // Pieces begin at a multiple of 16.
    uint64_t padding;
} session_memory_slab;

typedef struct session_memory {
    session_memory_slab *slabs;
    char *place;
    char *end;
    size_t slab_size;
    // Free pieces by size in steps, each with a pointer to the next one at its beginning.
    void *spare[session_memory_classes + 1];
} session_memory;

static inline uint32_t *session_memory_class(void *piece) { return (uint32_t *)((char *)piece - session_memory_head); }

static inline void *session_memory_from_system(size_t size) {
    char *block = size > SIZE_MAX - session_memory_head ? NULL : (char *)malloc(size + session_memory_head);
    if (!block) return NULL;
    *(uint32_t *)block = 0;
    return block + session_memory_head;
}

static inline void *session_memory_carve(session_memory *memory, uint32_t size_class) {
    size_t size = (size_t)size_class * session_memory_step + session_memory_head;
    if ((size_t)(memory->end - memory->place) < size) {
        session_memory_slab *slab = (session_memory_slab *)malloc(memory->slab_size);
        if (!slab) return NULL;
        slab->next = memory->slabs;
        memory->slabs = slab;
        memory->place = (char *)(slab + 1);
        memory->end = (char *)slab + memory->slab_size;
        if (memory->slab_size < session_memory_largest_slab) memory->slab_size *= 2;
    }
    char *block = memory->place;
    memory->place += size;
    *(uint32_t *)block = size_class;
    return block + session_memory_head;
}

static void *session_memory_malloc(size_t size, void *user) {
    session_memory *memory = (session_memory *)user;
    if (size > session_memory_step * session_memory_classes) return session_memory_from_system(size);
    uint32_t size_class = size == 0 ? 1 : (uint32_t)((size + session_memory_step - 1) / session_memory_step);
    void *piece = memory->spare[size_class];
    if (!piece) return session_memory_carve(memory, size_class);
    memory->spare[size_class] = *(void **)piece;
    return piece;
}

static void session_memory_free(void *piece, void *user) {
    if (!piece) return;
    session_memory *memory = (session_memory *)user;
    uint32_t size_class = *session_memory_class(piece);
    if (size_class == 0) {
        free((char *)piece - session_memory_head);
        return;
    }
    *(void **)piece = memory->spare[size_class];
    memory->spare[size_class] = piece;
}

static void *session_memory_calloc(size_t count, size_t size, void *user) {
    if (size != 0 && count > SIZE_MAX / size) return NULL;
    void *piece = session_memory_malloc(count * size, user);
    if (piece) memset(piece, 0, count * size);
    return piece;
}

static void *session_memory_realloc(void *piece, size_t size, void *user) {
    if (!piece) return session_memory_malloc(size, user);
    size_t old = (size_t)*session_memory_class(piece) * session_memory_step;
    if (old == 0) {
        // It may become small: a piece of the system's stays one.
        if (size > SIZE_MAX - session_memory_head) return NULL;
        char *block = (char *)realloc((char *)piece - session_memory_head, size + session_memory_head);
        return block ? block + session_memory_head : NULL;
    }
    if (size <= old) return piece;
    void *larger = session_memory_malloc(size, user);
    if (!larger) return NULL;
    memcpy(larger, piece, old);
    session_memory_free(piece, user);
    return larger;
}

/// Memory for one session; NULL if there is none.
static inline session_memory *session_memory_new(void) {
    session_memory *memory = (session_memory *)calloc(1, sizeof(session_memory));
    if (memory) memory->slab_size = session_memory_first_slab;
    return memory;
}

/// Gives all of it back; its session must be gone.
static inline void session_memory_delete(session_memory *memory) {
    if (!memory) return;
    for (session_memory_slab *slab = memory->slabs; slab;) {
        session_memory_slab *next = slab->next;
        free(slab);
        slab = next;
    }
    free(memory);
}

/// What nghttp2 is given for a session.
static inline nghttp2_mem session_memory_functions(session_memory *memory) {
    nghttp2_mem functions = {memory, session_memory_malloc, session_memory_free, session_memory_calloc,
                             session_memory_realloc};
    return functions;
}
