/* Functions that code compiled by numba calls: reference-counted memory (numba/core/runtime/nrt.h), and a check of
   strides. */

#include "runtime.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

typedef void (*OfItems)(void *items);

void *NRT_Allocate(size_t size) { return malloc(size); }

void NRT_Free(void *block) { free(block); }

Memory *NRT_MemInfo_alloc(size_t size) {
    void *block = NULL;
    if (size > PTRDIFF_MAX - ALIGNMENT || posix_memalign(&block, ALIGNMENT, ALIGNMENT + size))
        return NULL;
    Memory *memory = block;
    *memory = (Memory){.owners = 1, .data = (char *)block + ALIGNMENT, .size = size};
    return memory;
}

Memory *NRT_MemInfo_alloc_aligned(size_t size, unsigned align) {
    return align <= ALIGNMENT ? NRT_MemInfo_alloc(size) : NULL;
}

/* A list. Its items are a block of their own, so that it can grow. */

static void destroy_list(void *items, size_t size, void *of_items) {
    (void)size;
    if (of_items)
        ((OfItems)of_items)(items);
    free(items);
}

Memory *NRT_MemInfo_new_varsize_dtor(size_t size, OfItems of_items) {
    Memory *memory = malloc(sizeof *memory);
    void *items = malloc(size);
    if (!memory || !items) {
        free(memory);
        free(items);
        return NULL;
    }
    *memory = (Memory){.owners = 1, .destroy = destroy_list, .what = (void *)of_items, .data = items, .size = size};
    return memory;
}

void *NRT_MemInfo_varsize_realloc(Memory *memory, size_t size) {
    void *items = realloc(memory->data, size);
    if (items) {
        memory->data = items;
        memory->size = size;
    }
    return items;
}

void NRT_MemInfo_call_dtor(Memory *memory) {
    if (memory->destroy)
        memory->destroy(memory->data, memory->size, memory->what);
    free(memory);
}

/* Return whether an array can be reshaped without a copy, and fill its new strides. Arrays of kernels have no gaps. */
int numba_attempt_nocopy_reshape(intptr_t from, const intptr_t *shape, const intptr_t *strides, intptr_t to,
                                 const intptr_t *new_shape, intptr_t *new_strides, intptr_t item, int fortran) {
    intptr_t step = item;
    for (intptr_t d = from - 1; d >= 0; step *= shape[d--])
        if (shape[d] > 1 && strides[d] != step)
            return 0;
    step = item;
    for (intptr_t d = to - 1; d >= 0; step *= new_shape[d--])
        new_strides[d] = step;
    return !fortran;
}
