/* Any bytes as a credentials file: a ring with keys in it, or a message that says where. */
#include "auth/auth.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct auth_ring *ring;
    sheaf_error err;
    sheaf_rc rc = auth_ring_parse("f", SPAN(data, size), &ring, &err);
    if (rc == SHEAF_OK) {
        must(ring && auth_ring_count(ring) > 0);
        auth_ring_unref(auth_ring_ref(ring));
        auth_ring_unref(ring);
        return 0;
    }
    must(rc == SHEAF_VALIDATION && !ring);
    must(strncmp(err.message, "f:", 2) == 0 && err.message[2] >= '1' && err.message[2] <= '9');
    return 0;
}
