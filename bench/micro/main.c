/* bench_micro: CPU cost of the layers below the API, with the raw RocksDB calls beside ours. */
#include "micro/groups.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: bench_micro [--quick] [--items N] [--dir DIRECTORY] [GROUP]\n"
    "  prints CPU nanoseconds per operation, median of nine interleaved rounds\n"
    "  --quick        three short rounds and little data: to see that everything runs\n"
    "  --items N      items in the engine groups (default 1000000; quick 20000)\n"
    "  --dir DIR      where the RocksDB data goes (default: a temporary directory)\n"
    "  GROUP          only groups whose title contains this\n";

int main(int argc, char **argv)
{
    struct bench_options o = {0};
    static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
                                            {"items", required_argument, NULL, 'n'},
                                            {"dir", required_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'q') o.is_quick = true;
        if (c == 'n') o.n_items = strtoull(optarg, NULL, 10);
        if (c == 'd') o.directory = optarg;
        if (c == 'h' || c == '?') {
            fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 2;
        }
    }
    if (optind < argc) o.filter = argv[optind];
    if (!o.n_items) o.n_items = o.is_quick ? 20000 : 1000000;
#ifndef NDEBUG
    puts("note: asserts are on; measure with the release preset");
#endif
    bench_numbers(&o);
    bench_items(&o);
    bench_jsons(&o);
    bench_expressions(&o);
    bench_keys(&o);
    bench_signatures(&o);
    bench_mappers(&o);
    bench_engines(&o);
    return 0;
}
