/* bench_embedded --resident: resident memory of mem per item of one kilobyte.
 *
 * Know before editing: what counts is what the process has more of after the load, as the kernel
 * tells it, so nothing else may be allocated in between. */
#include "embedded/embedded.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOTE_BYTES = 940 };
static const uint64_t usual = 500000;

static double resident_bytes(void)
{
    unsigned long long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%llu %llu", &size, &pages) != 2) pages = 0;
    if (f) fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static size_t put(sheaf_db *db, uint64_t i, const char *text)
{
    sheaf_error err;
    char pk[24], sk[32];
    name_keys(i, pk, sk);
    const sheaf_item *item =
        SHEAF_ITEM({"PK", sheaf_s(pk)}, {"SK", sheaf_s(sk)}, {"note", sheaf_s(text)});
    must(sheaf_put_item(db, &(struct sheaf_put_item){.table = "bench", .item = item, .error = &err},
                        NULL),
         &err);
    return sheaf_item_size(item);
}

int run_resident(const struct bench_options *o)
{
    sheaf_db *db;
    sheaf_error err;
    char text[NOTE_BYTES + 1];
    uint64_t n = o->n_items ? o->n_items : usual;
    size_t bytes = 0;
    memset(text, 'x', NOTE_BYTES);
    text[NOTE_BYTES] = 0;
    must(sheaf_open(":memory:", NULL, &db, &err), &err);
    must(sheaf_create_table(db,
                            &(struct sheaf_create_table){.table = "bench",
                                                         .partition_key = {"PK", SHEAF_S, {0}},
                                                         .sort_key = {"SK", SHEAF_S, {0}},
                                                         .error = &err},
                            NULL),
         &err);
    double before = resident_bytes();
    for (uint64_t i = 0; i < n; i++) bytes += put(db, i, text);
    double per_item = (resident_bytes() - before) / (double)n, size = (double)bytes / (double)n;
    printf("%llu items of %.0f bytes on mem: %.0f bytes resident each, %.2f times   aim ≤ 1.60%s\n",
           (unsigned long long)n, size, per_item, per_item / size,
           per_item / size > 1.6 ? "   MISSED" : "");
    sheaf_close(db);
    return 0;
}
