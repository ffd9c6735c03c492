/* Both doors give the same descriptors. Compiled as C and C++; with -DCLASH and macros of the program
 * named VERSION, STR and KEY (as config.h and many a header have them) only the second one is used,
 * and must give what both gave. Prints the descriptors. */
#include <sheaf/mapper.h>
#include <stdio.h>

enum colour { RED, GREEN };
static const char *const colour_names[] = {"RED", "GREEN"};
struct address {
    const char *city;
};
struct thing {
    const char *id;
    sheaf_str any;
    char chars[12], ulid[27];
    struct sheaf_span bytes;
    int8_t i8;
    const int16_t *maybe16;
    double d;
    const bool *maybe;
    enum colour colour;
    sheaf_time at;
    const sheaf_time *maybe_at;
    struct address home;
    const struct address *work;
    const struct address *all;
    size_t n_all;
    const char *const *tags;
    size_t n_tags;
    const int64_t *sizes;
    size_t n_sizes;
    const struct sheaf_pair *pairs;
    size_t n_pairs;
    int64_t version;
    const sheaf_item *extra;
};
#define ADDRESS_FIELDS(F) F(STR, city, "City")
/* clang-format off */
#define THING_FIELDS(F) \
    F(KEY, PK, "T#{id}") F(STR, id) F(STR, any) F(STR, chars, "Chars") F(ULID, ulid) \
    F(BYTES, bytes) F(INT, i8) F(INT, maybe16) F(DOUBLE, d) F(BOOL, maybe) \
    F(ENUM, colour, colour_names) F(TIME, at) F(TIME, maybe_at) F(NEST, home, address) \
    F(NEST, work, address, "Work") F(LIST, all, n_all, address) F(STRS, tags, n_tags) \
    F(INTSET, sizes, n_sizes) F(MAP, pairs, n_pairs) F(VERSION, version) F(EXTRA, extra)
/* clang-format on */

#ifdef CLASH
SHEAF_SHAPE_X(address, ADDRESS_FIELDS);
SHEAF_ENTITY_X(thing, "Thing", THING_FIELDS);
#else
SHEAF_SHAPE(address, STR(city, "City"));
SHEAF_ENTITY(thing, "Thing",
    KEY(PK, "T#{id}")
    STR(id) STR(any) STR(chars, "Chars") ULID(ulid) BYTES(bytes) INT(i8) INT(maybe16) DOUBLE(d)
    BOOL(maybe) ENUM(colour, colour_names) TIME(at) TIME(maybe_at) NEST(home, address)
    NEST(work, address, "Work") LIST(all, n_all, address) STRS(tags, n_tags)
    INTSET(sizes, n_sizes) MAP(pairs, n_pairs) VERSION(version) EXTRA(extra));
#endif

static void show(const sheaf_shape *shape)
{
    size_t n;
    const sheaf_field *f = shape->fields(&n);
    printf("%s %u\n", shape->name, (unsigned)shape->size);
    for (size_t i = 0; i < n; i++)
        printf("%s|%s|%u|%u|%u|%u|%u|%u|%u\n", f[i].attr, f[i].member, f[i].kind, f[i].rep,
               f[i].offset, f[i].size, f[i].count_offset, f[i].item_size, (unsigned)f[i].n_aux);
    for (size_t i = 0; i < n; i++)
        if (f[i].kind == SHEAF_IS_LIST) show((const sheaf_shape *)f[i].aux);
}

int main(void)
{
    show(&thing_entity.shape);
    return 0;
}
