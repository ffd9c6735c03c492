/* "template\na\nb": a template is refused with words, or it makes a key of a and b that tells both
 * again, and the entity too. The first two lines are also read as times, which must not read beyond
 * their end. */
#include "mapper/plan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct thing {
    const char *a, *b;
};
static char template_text[256];
static const sheaf_field fields[] = {
    {"PK", "T", SHEAF_IS_KEY, 0, 0, 0, 0, 0, NULL, 0},
    {"SK", template_text, SHEAF_IS_KEY, 0, 0, 0, 0, 0, NULL, 0},
    {"", "a", SHEAF_IS_STR, SHEAF_REP_CSTR, offsetof(struct thing, a), 8, 0, 0, NULL, 0},
    {"", "b", SHEAF_IS_STR, SHEAF_REP_CSTR, offsetof(struct thing, b), 8, 0, 0, NULL, 0}};

static const sheaf_field *list(size_t *n_out)
{
    *n_out = sizeof fields / sizeof *fields;
    return fields;
}
static const sheaf_entity thing = {{"thing", sizeof(struct thing), list, sizeof(sheaf_field)},
                                   "Thing"};
static const sheaf_entity *const entities[] = {&thing, NULL};

static void must(bool holds)
{
    if (!holds) abort();
}

static const char *take(char **rest)
{
    char *line = *rest, *end = strchr(line, '\n');
    if (end) *end = '\0';
    *rest = end ? end + 1 : line + strlen(line);
    return line;
}

static void check_keys(sheaf_map *map, const struct thing *x)
{
    sheaf_item *item;
    sheaf_rows *rows;
    if (sheaf_entity_item_(map, &thing, x, &item, NULL) != SHEAF_OK) return;
    sheaf_attr attrs[2] = {{"PK", sheaf_s("T")}, {"SK", sheaf_s(sheaf_item_s(item, "SK"))}};
    const sheaf_item keys = {attrs, 2, NULL}, *one = &keys;
    must(sheaf_rows_of(map, &one, 1, &rows, NULL) == SHEAF_OK);
    const struct thing *back = sheaf_rows_next_(rows, &thing, NULL);
    must(back != NULL);
    must(!back->a || strcmp(back->a, x->a) == 0);
    must(!back->b || strcmp(back->b, x->b) == 0);
    must((back->a != NULL) == (strstr(template_text, "{a}") != NULL));
    must((back->b != NULL) == (strstr(template_text, "{b}") != NULL));
    sheaf_rows_free(rows);
    sheaf_item_free(item);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sheaf_db *db;
    char text[1024], *rest = text;
    int64_t us;
    sheaf_map *map;
    sheaf_error err;
    if (size >= sizeof text) return 0;
    if (!db) must(sheaf_open(":memory:", NULL, &db, NULL) == SHEAF_OK);
    memcpy(text, data, size);
    text[size] = '\0';
    const char *first = take(&rest);
    if (strlen(first) >= sizeof template_text) return 0;
    strcpy(template_text, first);
    struct thing x = {.a = take(&rest), .b = rest};
    map_time_parse(span_cstr(first), &us);
    map_time_parse(span_cstr(x.a), &us);
    struct sheaf_table t = {
        .name = "t", .partition_key = "PK", .sort_key = "SK", .entities = entities};
    sheaf_rc rc = sheaf_map_open(db, &t, &map, &err);
    must((rc == SHEAF_OK) == (map != NULL));
    must(rc == SHEAF_OK || err.message[0]);
    if (map) check_keys(map, &x);
    sheaf_map_close(map);
    return 0;
}
