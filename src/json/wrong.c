/* Turns what stands where it should not into AWS's words for it: the service's parser names its own
 * tokens and Java's types. */
#include "json/read.h"

sheaf_rc json_malformed(struct json *j)
{
    return err_set(j->ctx->err, SHEAF_SERIALIZATION, "%s", "");
}

/* "NUMBER_VALUE", what AWS's parser calls a scalar; NULL when it is not one after all. */
static const char *token_name(const struct json *j, enum json_kind found)
{
    if (found == JSON_STRING) return "STRING_VALUE";
    if (found == JSON_NULL) return "NULL_VALUE";
    if (found == JSON_BOOL) return *j->at == 't' ? "TRUE_VALUE" : "FALSE_VALUE";
    const uint8_t *end = json_number_end(j->at, j->end);
    if (!end) return NULL;
    for (const uint8_t *p = j->at; p < end; p++)
        if (*p == '.' || *p == 'e' || *p == 'E') return "DECIMAL_VALUE";
    return "NUMBER_VALUE";
}

static sheaf_rc complain(struct json *j, const char *text, const char *more)
{
    return err_set(j->ctx->err, SHEAF_SERIALIZATION, "%s%s", text, more);
}

static bool is_scalar(const char *wanted)
{
    static const char *const names[] = {"String", "Boolean", "Integer", "Long", "Double"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(wanted, names[i]) == 0) return true;
    return false;
}

static sheaf_rc wrong_scalar(struct json *j, enum json_kind found, const char *wanted)
{
    if (found == JSON_ARRAY)
        return complain(j, "Unrecognized collection type class java.lang.", wanted);
    const char *token = token_name(j, found);
    if (!token) return json_malformed(j);
    if (found == JSON_STRING && strcmp(wanted, "Boolean") == 0)
        return complain(j, "Unexpected token received from parser", "");
    return err_set(j->ctx->err, SHEAF_SERIALIZATION, "%s cannot be converted to %s", token, wanted);
}

/* `other` are the words for a scalar where a map, list or structure should stand. */
static sheaf_rc wrong(struct json *j, enum json_kind found, const char *wanted, const char *other)
{
    bool is_blob = strcmp(wanted, "Blob") == 0;
    if (found == JSON_OBJECT)
        return complain(j, "Start of structure or map found where not expected", "");
    if (is_scalar(wanted)) return wrong_scalar(j, found, wanted);
    if (found == JSON_ARRAY)
        return complain(j, "Unrecognized collection type ",
                        is_blob ? "class java.nio.ByteBuffer" : wanted);
    if (!token_name(j, found)) return json_malformed(j);
    return complain(j, is_blob ? "only base-64-encoded strings are convertible to bytes" : other,
                    "");
}

sheaf_rc json_wrong_kind(struct json *j, enum json_kind found, const char *wanted)
{
    return wrong(j, found, wanted, "Unexpected field type");
}

sheaf_rc json_wrong_element(struct json *j, enum json_kind found, const char *wanted)
{
    return wrong(j, found, wanted, "Unexpected value type in payload");
}

sheaf_rc json_not_the_kind(struct json *j, const char *wanted)
{
    enum json_kind found;
    TRY(json_peek(j, &found));
    return json_wrong_kind(j, found, wanted);
}
