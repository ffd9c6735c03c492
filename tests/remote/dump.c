/* Prints results, part by part, in the order of <sheaf/sheaf.h>. */
#include "dump.h"

#include <inttypes.h>
#include <string.h>

static void dump_list(FILE *to, const sheaf_list *list);

static void dump_value(FILE *to, const sheaf_value *v)
{
    static const char *const names[] = {"none", "S", "N",  "B",  "BOOL", "NULL",
                                        "M",    "L", "SS", "NS", "BS"};
    fprintf(to, "%s:", names[v->type]);
    switch (v->type) {
    case SHEAF_S:
    case SHEAF_N:
        fprintf(to, "%s", (const char *)v->u.p);
        break;
    case SHEAF_B:
        for (size_t i = 0; i < v->n; i++) fprintf(to, "%02x", ((const uint8_t *)v->u.p)[i]);
        break;
    case SHEAF_BOOL:
        fprintf(to, "%d", v->boolean);
        break;
    case SHEAF_M:
        dump_item(to, v->u.map);
        break;
    case SHEAF_L:
    case SHEAF_SS:
    case SHEAF_NS:
    case SHEAF_BS:
        dump_list(to, v->u.list);
        break;
    default:
        break;
    }
}

static void dump_list(FILE *to, const sheaf_list *list)
{
    sheaf_value v;
    fputc('[', to);
    for (size_t i = 0; i < sheaf_list_count(list); i++) {
        if (i) fputs(", ", to);
        if (sheaf_list_at(list, i, &v)) dump_value(to, &v);
    }
    fputc(']', to);
}

void dump_item(FILE *to, const sheaf_item *item)
{
    sheaf_attr a;
    if (!item) {
        fputs("(none)", to);
        return;
    }
    fputc('{', to);
    for (size_t i = 0; i < sheaf_item_count(item); i++) {
        if (!sheaf_item_at(item, i, &a)) continue;
        fprintf(to, "%s%s=", i ? ", " : "", a.name);
        dump_value(to, &a.value);
    }
    fputc('}', to);
}

static const char *or_none(const char *s) { return s ? s : "(none)"; }

static void dump_keys(FILE *to, const struct sheaf_key *keys, uint32_t n)
{
    for (uint32_t i = 0; i < n && keys[i].name; i++)
        fprintf(to, " %s/%d", keys[i].name, (int)keys[i].type);
}

static void dump_index(FILE *to, const struct sheaf_index_description *x)
{
    fprintf(to, "  index %s %s %s local=%d backfilling=%d hash", x->name, x->arn, x->status,
            x->is_local, x->is_backfilling);
    dump_keys(to, x->partition_key, x->n_partition_key);
    fputs(" range", to);
    dump_keys(to, x->sort_key, x->n_sort_key);
    fprintf(to, " projection=%d", (int)x->projection);
    for (uint32_t i = 0; i < x->n_include; i++) fprintf(to, " +%s", x->include[i]);
    fprintf(to, " items=%" PRIu64 " bytes=%" PRIu64 " units=%" PRIu64 "/%" PRIu64 "\n",
            x->item_count, x->size_bytes, x->throughput.read, x->throughput.write);
}

static void dump_table(FILE *to, const struct sheaf_table_description *t)
{
    if (!t) return;
    if (!t->arn) { /* of DescribeTimeToLive */
        fprintf(to, "  table %s ttl=%s\n", t->name, or_none(t->ttl_attribute));
        return;
    }
    fprintf(to, "  table %s %s %s id=%d created=%d", t->name, t->arn, t->status, t->id && *t->id,
            t->created_us > 0);
    dump_keys(to, &t->partition_key, 1);
    dump_keys(to, &t->sort_key, 1);
    fprintf(to, " items=%" PRIu64 " bytes=%" PRIu64 " billing=%d units=%" PRIu64 "/%" PRIu64,
            t->item_count, t->size_bytes, (int)t->billing_mode, t->throughput.read,
            t->throughput.write);
    fprintf(to, " protected=%d infrequent=%d stream=%d stream_arn=%d label=%d indexes=%u\n",
            t->deletion_protection, t->infrequent_access, (int)t->stream, t->stream_arn != NULL,
            t->stream_label != NULL, t->n_indexes);
    for (uint32_t i = 0; i < t->n_indexes; i++) dump_index(to, sheaf_table_index(t, i));
}

static void dump_items(FILE *to, const sheaf_result *r)
{
    if (sheaf_result_item(r)) {
        fputs("  item ", to);
        dump_item(to, sheaf_result_item(r));
        fputc('\n', to);
    }
    for (size_t i = 0; i < sheaf_result_count(r); i++) {
        fprintf(to, "  [%zu] %s ", i, or_none(sheaf_result_table_at(r, i)));
        dump_item(to, sheaf_result_at(r, i));
        fputc('\n', to);
    }
    fprintf(to, "  matched=%" PRIu64 " scanned=%" PRIu64 " last=", sheaf_result_matched(r),
            sheaf_result_scanned(r));
    dump_item(to, sheaf_result_last_evaluated_key(r));
    fputc('\n', to);
}

static void dump_leftovers(FILE *to, const sheaf_result *r)
{
    size_t table, key;
    for (size_t i = 0; i < sheaf_result_unprocessed_count(r); i++)
        if (sheaf_result_unprocessed_at(r, i, &table, &key))
            fprintf(to, "  unprocessed %zu/%zu\n", table, key);
    for (size_t i = 0; i < sheaf_result_reason_count(r); i++) {
        const struct sheaf_reason *why = sheaf_result_reason(r, i);
        fprintf(to, "  reason %s: %s ", why->code, or_none(why->message));
        dump_item(to, why->item);
        fputc('\n', to);
    }
}

static void dump_totals(FILE *to, const sheaf_result *r)
{
    const sheaf_item *key;
    uint64_t bytes;
    for (size_t i = 0; i < sheaf_result_capacity_count(r); i++) {
        const struct sheaf_capacity *c = sheaf_result_capacity(r, i);
        fprintf(to, "  capacity %s/%s %g (%g, %g)\n", c->table, or_none(c->index), c->units,
                c->read_units, c->write_units);
    }
    for (size_t i = 0; i < sheaf_result_metrics_count(r); i++)
        if (sheaf_result_metrics(r, i, &key, &bytes)) {
            fputs("  metrics ", to);
            dump_item(to, key);
            fprintf(to, " %" PRIu64 " GB\n", bytes >> 30);
        }
}

static void dump_streams(FILE *to, const sheaf_result *r)
{
    for (size_t i = 0; i < sheaf_result_name_count(r); i++)
        fprintf(to, "  name %s\n", sheaf_result_name(r, i));
    for (size_t i = 0; i < sheaf_result_stream_count(r); i++)
        fprintf(to, "  stream of %s\n", sheaf_result_stream(r, i)->table);
    for (size_t i = 0; i < sheaf_result_shard_count(r); i++)
        fprintf(to, "  shard id=%d open=%d\n", sheaf_result_shard(r, i)->id != NULL,
                sheaf_result_shard(r, i)->last_sequence_number == NULL);
    for (size_t i = 0; i < sheaf_result_record_count(r); i++) {
        const struct sheaf_stream_record *k = sheaf_result_record(r, i);
        fprintf(to, "  record %s view=%d ttl=%d size=%" PRIu64 " keys=", k->event_name,
                (int)k->view, k->is_ttl, k->size_bytes);
        dump_item(to, k->keys);
        fputs(" old=", to);
        dump_item(to, k->old_image);
        fputs(" new=", to);
        dump_item(to, k->new_image);
        fputc('\n', to);
    }
}

/* The wire puts some messages into an envelope, as AWS does since 2026; embedded calls do not. */
static const char *unwrap(const char *message)
{
    static const char envelope[] = "1 validation error detected: ";
    size_t n = sizeof envelope - 1;
    return strncmp(message, envelope, n) == 0 ? message + n : message;
}

void dump(FILE *to, const char *what, sheaf_rc rc, const sheaf_error *err, sheaf_result *r)
{
    fprintf(to, "%s: %d %s %s\n", what, (int)rc, rc ? err->exception : "",
            rc ? unwrap(err->message) : "");
    if (r) {
        dump_items(to, r);
        dump_leftovers(to, r);
        dump_totals(to, r);
        dump_table(to, sheaf_result_table(r));
        dump_streams(to, r);
        if (sheaf_result_json(r)) fprintf(to, "  json %s\n", sheaf_result_json(r));
    }
    sheaf_result_free(r);
}
