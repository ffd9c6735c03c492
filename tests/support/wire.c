/* Requests to op_run and judgements of its replies. */
#include "support/wire.h"

#include "json/json.h"

#include <inttypes.h>

void wire_init(struct wire_test *w)
{
    *w = (struct wire_test){.rows = 0};
    clock_manual_init(&w->clock, INT64_C(1794700800000000));
    struct core_options options = {.clock = &w->clock.base, .seed = 1};
    core_test_init(&w->core, &options);
    struct core *core = w->core.core;
    test_table(core, "Hash", "pk:S", NULL, NULL);
    test_table(core, "Number", "pk:N", NULL, NULL);
    test_table(core, "Binary", "pk:B", NULL, NULL);
    test_table(core, "Range", "pk:S", "sk:S", NULL);
    test_table(core, "Local", "pk:S", "sk:S", "local byA(pk:S|a:S) ALL");
    test_table(core, "Global", "pk:S", NULL, "byG(g:S|h:N) ALL; keys(g:S) KEYS_ONLY");
    arena_init(&w->arena, (size_t)512 << 20);
}

void wire_deinit(struct wire_test *w)
{
    arena_deinit(&w->arena);
    core_test_deinit(&w->core);
}

int wire_setup(void **state)
{
    static struct wire_test w;
    wire_init(&w);
    *state = &w;
    return 0;
}

int wire_teardown(void **state)
{
    wire_deinit(*state);
    return 0;
}

static span quoted(struct wire_test *w, const char *text)
{
    size_t n = strlen(text);
    char *copy = (char *)arena_bytes(&w->arena, n + 1);
    assert_non_null(copy);
    for (size_t i = 0; i <= n; i++) copy[i] = text[i] == '\'' ? '"' : text[i];
    return SPAN(copy, n);
}

/* The strict reader takes the reply. */
static void check_json(struct wire_test *w, span text)
{
    struct json j;
    sheaf_error err;
    struct ctx c = {&w->arena, &err};
    json_init(&j, &c, text);
    sheaf_rc rc = json_skip(&j, NULL);
    if (rc == SHEAF_OK) rc = json_end(&j);
    if (rc != SHEAF_OK) fail_msg("the reply is no JSON: %.*s", SPAN_ARG(text));
}

void wire_send_raw(struct wire_test *w, const char *operation, span request)
{
    char target[96];
    struct ctx c = {&w->arena, &w->err};
    struct op_reply reply;
    snprintf(target, sizeof target, "DynamoDB_20120810.%s", operation);
    struct op_request q = {
        .op = op_find(span_cstr(target)), .body = request, .region = SPAN_LIT("us-east-1")};
    if (!q.op) fail_msg("there is no operation %s", operation);
    op_run(w->core.core, &c, &q, &reply);
    w->status = reply.status;
    w->rc = reply.rc;
    span body = buf_span(&reply.body);
    check_json(w, body);
    char *text = (char *)arena_bytes(&w->arena, body.n + 1);
    assert_non_null(text);
    memcpy(text, body.p, body.n);
    text[body.n] = '\0';
    w->body = text;
}

void wire_send(struct wire_test *w, const char *operation, const char *request)
{
    arena_reset(&w->arena);
    wire_send_raw(w, operation, quoted(w, request));
}

/* ---- rows ---- */

/* "…" at the end of a text. */
static bool is_beginning(const char *text, size_t *n_out)
{
    static const char dots[] = "\xE2\x80\xA6";
    size_t n = strlen(text);
    bool is = n >= 3 && memcmp(text + n - 3, dots, 3) == 0;
    *n_out = is ? n - 3 : n;
    return is;
}

static bool is_match(const char *got, const char *want)
{
    size_t n;
    bool is_begun = is_beginning(want, &n);
    return strncmp(got, want, n) == 0 && (is_begun || got[n] == '\0');
}

static const char *space_of(const char *type)
{
    if (strcmp(type, "ValidationException") == 0) return "com.amazon.coral.validate#";
    if (strcmp(type, "SerializationException") == 0 || strcmp(type, "AccessDeniedException") == 0)
        return "com.amazon.coral.service#";
    return "com.amazonaws.dynamodb.v20120810#";
}

/* The message of an error's body, read by the reader; "" when it has none. */
static span message_of(struct wire_test *w)
{
    struct json j;
    sheaf_error err;
    struct ctx c = {&w->arena, &err};
    span name, text, message = SPAN_LIT("");
    bool has = true;
    json_init(&j, &c, span_cstr(w->body));
    assert_ok(json_object(&j));
    for (;;) {
        assert_ok(json_next_name(&j, &name, &has));
        if (!has) return message;
        bool is_it = span_eq(name, SPAN_LIT("message")) || span_eq(name, SPAN_LIT("Message"));
        if (is_it) {
            assert_ok(json_text(&j, &text));
            message = text;
        } else {
            assert_ok(json_skip(&j, NULL));
        }
    }
}

static void check_error(struct wire_test *w, const struct wire_row *row)
{
    char begin[128];
    snprintf(begin, sizeof begin, "{\"__type\":\"%s%s\"", space_of(row->type), row->type);
    if (strncmp(w->body, begin, strlen(begin)) != 0)
        fail_msg("%s %s\n  answers %s\n  wanted  %s", row->operation, row->request, w->body,
                 row->type);
    span got = message_of(w);
    char *text = (char *)arena_bytes(&w->arena, got.n + 1);
    assert_non_null(text);
    memcpy(text, got.p, got.n);
    text[got.n] = '\0';
    if (!is_match(text, row->text))
        fail_msg("%s %s\n  says   %s\n  wanted %s", row->operation, row->request, text, row->text);
    assert_int_equal(w->status, 400);
}

void wire_check(struct wire_test *w, const struct wire_row *row)
{
    wire_send(w, row->operation, row->request);
    w->rows++;
    w->unverified += row->source == UNVERIFIED;
    if (row->type) {
        check_error(w, row);
        return;
    }
    const char *want = quoted(w, row->text).p;
    if (w->status != 200 || !is_match(w->body, want))
        fail_msg("%s %s\n  answers %d %s\n  wanted  %s", row->operation, row->request, w->status,
                 w->body, want);
}

void wire_check_rows(struct wire_test *w, const char *what, const struct wire_row *rows, size_t n)
{
    uint64_t unverified = w->unverified;
    for (size_t i = 0; i < n; i++) wire_check(w, &rows[i]);
    printf("%s: %zu rows, %" PRIu64 " unverified\n", what, n, w->unverified - unverified);
}

/* ---- long requests ---- */

static char *room(struct wire_test *w, size_t n)
{
    char *out = (char *)arena_bytes(&w->core.arena, n);
    assert_non_null(out);
    return out;
}

const char *wire_fill(struct wire_test *w, const char *text, const char *with)
{
    const char *mark = strstr(text, "{}");
    if (!mark) fail_msg("no {} in %s", text);
    size_t before = (size_t)(mark - text), n = strlen(with);
    char *out = room(w, strlen(text) + n + 1);
    memcpy(out, text, before);
    memcpy(out + before, with, n);
    memcpy(out + before + n, mark + 2, strlen(mark + 2) + 1);
    return out;
}

const char *wire_repeat(struct wire_test *w, const char *text, char x, size_t n)
{
    char *many = room(w, n + 1);
    memset(many, x, n);
    many[n] = '\0';
    return wire_fill(w, text, many);
}

const char *wire_list(struct wire_test *w, const char *piece, size_t n)
{
    size_t size = n * (strlen(piece) + 8) + 1, at = 0;
    char *out = room(w, size);
    out[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (i) out[at++] = ',';
        for (const char *p = piece; *p; p++)
            at += (size_t)(*p == '#' ? sprintf(out + at, "%zu", i) : sprintf(out + at, "%c", *p));
    }
    return out;
}
