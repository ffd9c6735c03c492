#include "support/support.h"

#include "base/rng.h"
#include "value/build.h"
#include "json/json.h"

/* A random value of any type, with texts that need escapes, and nothing that DynamoDB refuses. */
struct maker {
    struct rng r;
    struct vb b;
};

static uint64_t below(struct maker *m, uint64_t n) { return rng_below(&m->r, n); }

static span random_text(struct maker *m, char *room, size_t cap)
{
    static const char *const parts[] = {"a",
                                        "zebra",
                                        "\"",
                                        "\\",
                                        "\n",
                                        "\x01",
                                        "/",
                                        "\xC3\xA9",
                                        "\xE2\x82\xAC",
                                        "\xF0\x9D\x84\x9E",
                                        "\x7F",
                                        " ",
                                        "\t",
                                        "0123456789abcdef"};
    size_t n = 0;
    for (uint64_t k = below(m, 6); k-- > 0;) {
        const char *part = parts[below(m, sizeof parts / sizeof parts[0])];
        if (n + strlen(part) > cap) break;
        memcpy(room + n, part, strlen(part));
        n += strlen(part);
    }
    if (below(m, 8) == 0 && n < cap) room[n++] = '\0';
    return SPAN(room, n);
}

static span random_number(struct maker *m, char *room)
{
    int n = sprintf(room, "%s%llu", below(m, 2) ? "-" : "",
                    (unsigned long long)rng_u64(&m->r) >> below(m, 64));
    if (below(m, 2)) n += sprintf(room + n, ".%llu", (unsigned long long)below(m, 1000000));
    if (below(m, 3) == 0) n += sprintf(room + n, "E%d", (int)below(m, 200) - 100);
    return SPAN(room, (size_t)n);
}

static void put_scalar(struct maker *m, uint64_t kind, uint64_t salt)
{
    char room[128];
    span text = random_text(m, room, 100);
    if (kind == 1) {
        vb_n_text(&m->b, random_number(m, room));
        return;
    }
    /* Set members differ by their salt. */
    room[text.n] = (char)('A' + salt);
    text.n += salt < 26;
    if (kind == 0) vb_s(&m->b, text);
    if (kind == 2) vb_b(&m->b, text);
}

static void put_value(struct maker *m, uint32_t depth);

static void put_container(struct maker *m, uint64_t kind, uint32_t depth)
{
    char name[32];
    if (kind == 5)
        vb_map_begin(&m->b);
    else if (kind == 6)
        vb_list_begin(&m->b);
    else
        vb_set_begin(&m->b, kind == 7 ? VAL_SS : kind == 8 ? VAL_NS : VAL_BS);
    uint64_t n = below(m, 5) + (kind >= 7);
    for (uint64_t i = 0; i < n; i++) {
        if (kind == 5)
            vb_name(&m->b,
                    SPAN(name, (size_t)sprintf(name, "%c\"%d\xC3\xA9", (char)('z' - i), (int)i)));
        if (kind <= 6) put_value(m, depth + 1);
        if (kind == 7) put_scalar(m, 0, i);
        if (kind == 8)
            vb_n_text(&m->b, SPAN(name, (size_t)sprintf(name, "%dE%d", (int)i + 1,
                                                        (int)below(m, 3) * 20)));
        if (kind == 9) put_scalar(m, 2, i);
    }
    vb_end(&m->b);
}

static void put_value(struct maker *m, uint32_t depth)
{
    uint64_t kind = below(m, depth > 5 ? 5 : 10);
    if (kind <= 2)
        put_scalar(m, kind, 99);
    else if (kind == 3)
        vb_bool(&m->b, below(m, 2));
    else if (kind == 4)
        vb_null(&m->b);
    else
        put_container(m, kind, depth);
}

static span random_item(struct maker *m, struct ctx *c)
{
    char name[32];
    span item;
    vb_init(&m->b, c, 1 << 22);
    vb_map_begin(&m->b);
    for (uint64_t i = 0, n = below(m, 30); i < n; i++) {
        vb_name(&m->b,
                SPAN(name, (size_t)sprintf(name, "%c%d\\", (char)('a' + below(m, 26)), (int)i)));
        put_value(m, 1);
    }
    vb_end(&m->b);
    assert_ok(vb_finish_item(&m->b, &item));
    return item;
}

/* The same with white space wherever JSON allows it, for the reader's other paths. */
static span spaced(struct ctx *c, span json, struct rng *r)
{
    struct buf b;
    buf_init(&b, c->arena, 1 << 24);
    const uint8_t *p = json.p;
    bool in_text = false;
    for (size_t i = 0; i < json.n; i++) {
        buf_put_u8(&b, p[i]);
        if (in_text && p[i] == '\\')
            buf_put_u8(&b, p[++i]);
        else if (p[i] == '"')
            in_text = !in_text;
        if (!in_text && strchr("{}[]:,\"", p[i]))
            for (uint64_t k = rng_below(r, 3); k-- > 0;)
                buf_put_u8(&b, (uint8_t) " \t\r\n"[rng_below(r, 4)]);
    }
    return buf_span(&b);
}

static void must_read(struct ctx *c, span json, span want)
{
    struct json j;
    struct json_item got;
    json_init(&j, c, json);
    assert_ok(json_read_item(&j, &got));
    assert_ok(json_end(&j));
    if (got.fault) fail_msg("%s in %.*s", got.fault, SPAN_ARG(json));
    if (!span_eq(got.item, want)) fail_msg("not the same item: %.*s", SPAN_ARG(json));
}

static void test_item__written_and_read_is_the_same(void **state)
{
    (void)state;
    struct maker m;
    uint64_t n_items = 0, n_bytes = 0;
    rng_init(&m.r, test_seed(11));
    struct arena arena;
    arena_init(&arena, 256 << 20);
    for (uint64_t i = 0, rounds = test_rounds(5000); i < rounds; i++) {
        sheaf_error err;
        struct ctx c = {&arena, &err};
        struct buf text;
        arena_reset(&arena);
        span item = random_item(&m, &c);
        buf_init(&text, &arena, 1 << 24);
        json_put_item(&text, item);
        assert_false(text.failed);
        must_read(&c, buf_span(&text), item);
        must_read(&c, spaced(&c, buf_span(&text), &m.r), item);
        n_items++;
        n_bytes += text.n;
    }
    printf("%llu items, %llu bytes of JSON\n", (unsigned long long)n_items,
           (unsigned long long)n_bytes);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_item__written_and_read_is_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
