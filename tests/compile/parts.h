/* What the files of mistakes/ begin with. */
#include <sheaf/mapper.h>

enum colour { RED, GREEN };
static const char *const colour_names[] = {"RED", "GREEN"};
struct address {
    const char *city;
};
struct order {
    const char *customer_id, *id;
    int64_t total, version;
    int32_t small;
    int count;
    size_t n_lines;
    enum colour colour;
    struct address home;
    const struct address *lines;
    char code[20];
    sheaf_time at;
};
struct customer {
    const char *id, *name;
};
SHEAF_SHAPE(address, STR(city));
