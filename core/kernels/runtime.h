#include <stddef.h>
#include <stdint.h>

/* Memory with owners, as code of numba reads it: NRT_MemInfo. */
typedef struct {
    int64_t owners;
    void (*destroy)(void *data, size_t size, void *what);
    void *what;
    void *data;
    size_t size;
} Memory;

void NRT_MemInfo_call_dtor(Memory *memory);
