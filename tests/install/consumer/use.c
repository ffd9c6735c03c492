/* A program of somebody else's: opens both engines, so that a static link needs all of RocksDB. */
#include <sheaf/error.h>
#include <sheaf/sys/engine.h>
#include <stdio.h>

static int report(const char *what, sheaf_rc rc, const sheaf_error *err)
{
    if (rc != SHEAF_OK) printf("%s: %s: %s\n", what, err->exception, err->message);
    return rc != SHEAF_OK;
}

int main(int argc, char **argv)
{
    sheaf_error err;
    sheaf_engine *mem = NULL, *rocks = NULL;
    int bad = report("mem", sheaf_engine_open_mem(NULL, &mem, &err), &err);
    bad |=
        report("rocks", sheaf_engine_open_rocks(argc > 1 ? argv[1] : "", NULL, &rocks, &err), &err);
    if (!bad) printf("%s %s\n", mem->ops->name, rocks->ops->name);
    sheaf_engine_close(mem);
    sheaf_engine_close(rocks);
    return bad;
}
