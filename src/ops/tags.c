/* TagResource, UntagResource, ListTagsOfResource. */
#include "ops/tables.h"

struct tags_in {
    span arn, token;
    struct shape_list tags; /* of struct in_tag pointers, or of spans */
};
struct tags_out {
    struct shape_list tags;
    span token;
};
struct nothing {
    char unused;
};

static const struct shape tag_keys = {.kind = SHAPE_LIST, .of = &shape_string};
static const struct member tag_members[] = {
    MEMBER(struct tags_in, arn, "ResourceArn", shape_arn, REQUIRED | LATER),
    MEMBER(struct tags_in, tags, "Tags", shape_tags, REQUIRED | LATER),
};
static const struct shape tag_in_shape = STRUCT_SHAPE(struct tags_in, tag_members);
static const struct member untag_members[] = {
    MEMBER(struct tags_in, arn, "ResourceArn", shape_arn, REQUIRED | LATER),
    MEMBER(struct tags_in, tags, "TagKeys", tag_keys, REQUIRED | LATER),
};
static const struct shape untag_in_shape = STRUCT_SHAPE(struct tags_in, untag_members);
static const struct member list_members[] = {
    MEMBER(struct tags_in, arn, "ResourceArn", shape_arn, REQUIRED | LATER),
    MEMBER(struct tags_in, token, "NextToken", shape_string, 0),
};
static const struct shape list_in_shape = STRUCT_SHAPE(struct tags_in, list_members);
static const struct member out_members[] = {
    MEMBER(struct tags_out, tags, "Tags", shape_tags, 0),
    MEMBER(struct tags_out, token, "NextToken", shape_string, 0),
};
static const struct shape out_shape = STRUCT_SHAPE(struct tags_out, out_members);
static const struct shape nothing_shape = {.kind = SHAPE_STRUCT, .size = sizeof(struct nothing)};

/* Core knows tables by name as well; the service does not. */
static sheaf_rc check_arn(struct ctx *c, span arn)
{
    if (!arn.p || span_starts(arn, SPAN_LIT("arn:"))) return SHEAF_OK;
    return err_validation(c->err,
                          "One or more parameter values were invalid: ARNs must start with "
                          "'arn:': %.*s",
                          SPAN_ARG(arn));
}

static sheaf_rc run_tag(struct op_call *call, const void *in_, void *out)
{
    const struct tags_in *in = in_;
    const struct core_tag *tags;
    uint32_t n;
    (void)out;
    TRY(check_arn(call->c, in->arn));
    TRY(op_table_tags(call->c, &in->tags, &tags, &n));
    return core_tag(call->core, call->c, in->arn, tags, n, &call->position);
}

static sheaf_rc run_untag(struct op_call *call, const void *in_, void *out)
{
    const struct tags_in *in = in_;
    (void)out;
    TRY(check_arn(call->c, in->arn));
    return core_untag(call->core, call->c, in->arn, in->tags.all, in->tags.n, &call->position);
}

/* The token is the last key of the page before. */
static sheaf_rc run_list(struct op_call *call, const void *in_, void *out_)
{
    enum { PAGE = 10 };
    const struct tags_in *in = in_;
    struct tags_out *out = out_;
    struct core_list_tags q = {.table = in->arn, .after = in->token, .limit = PAGE};
    struct core_tags_outcome got;
    TRY(check_arn(call->c, in->arn));
    sheaf_rc rc = core_list_tags(call->core, call->c, &q, &got);
    call->position = got.position;
    TRY(rc);
    struct in_tag **all = ARENA_ARRAY(call->c->arena, struct in_tag *, got.n + 1);
    struct in_tag *each = ARENA_ARRAY(call->c->arena, struct in_tag, got.n + 1);
    if (!all || !each) return err_nomem(call->c->err);
    for (uint32_t i = 0; i < got.n; i++) {
        each[i] = (struct in_tag){got.tags[i].key, got.tags[i].value};
        all[i] = &each[i];
    }
    out->tags = (struct shape_list){.all = all, .n = got.n, .has = true};
    out->token = got.last;
    return SHEAF_OK;
}

const struct op op_TagResource = {.name = "TagResource",
                                  .is_write = true,
                                  .input = &tag_in_shape,
                                  .output = &nothing_shape,
                                  .run = run_tag};
const struct op op_UntagResource = {.name = "UntagResource",
                                    .is_write = true,
                                    .input = &untag_in_shape,
                                    .output = &nothing_shape,
                                    .run = run_untag};
const struct op op_ListTagsOfResource = {
    .name = "ListTagsOfResource", .input = &list_in_shape, .output = &out_shape, .run = run_list};
