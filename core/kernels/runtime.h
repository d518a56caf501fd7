#include <stddef.h>
#include <stdint.h>

/* Reference-counted memory in numba's layout: NRT_MemInfo. */
typedef struct {
    int64_t owners;
    void (*destroy)(void *data, size_t size, void *what);
    void *what;
    void *data;
    size_t size;
} Memory;

void NRT_MemInfo_call_dtor(Memory *memory);
