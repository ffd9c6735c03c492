/* Turns an Authorization header into its parts, and says what AWS says about a bad one. Know before
 * editing: holds no memory and copies nothing; every span points into the header. */
#include "auth/authorization.h"

#include "base/base64.h"

static bool is_separator(uint8_t c) { return c == ',' || c == ' ' || c == '\t'; }

/* Takes the next part off *rest; false when only separators are left. */
static bool take(span *rest, span *part_out)
{
    const uint8_t *p = rest->p;
    size_t from = 0, to;
    while (from < rest->n && is_separator(p[from])) from++;
    for (to = from; to < rest->n && !is_separator(p[to]);) to++;
    if (from == to) return false;
    *part_out = SPAN(p + from, to - from);
    *rest = span_from(*rest, to);
    return true;
}

struct sig_text sig_show(span s)
{
    struct sig_text text = {{0}};
    const uint8_t *p = s.p;
    for (size_t i = 0; i < s.n && i < SIG_SHOWN; i++)
        text.s[i] = (char)(p[i] >= ' ' && p[i] <= '~' ? p[i] : '?');
    return text;
}

/* The header's SHA-256 in base64, as AWS names a header that it does not repeat. */
static sheaf_rc header_name(sheaf_error *err, span header, char out[48])
{
    uint8_t hash[SIG_HASH];
    TRY(sig_sha256(err, header, hash));
    struct buf b = {.p = (uint8_t *)out, .cap = 47, .max = 47};
    base64_put(&b, SPAN(hash, sizeof hash));
    out[b.n] = '\0';
    return SHEAF_OK;
}

static sheaf_rc no_pair(sheaf_error *err, span header)
{
    char name[48];
    TRY(header_name(err, header, name));
    return err_set(err, SHEAF_INCOMPLETE_SIGNATURE,
                   "Invalid key=value pair (missing equal-sign) in Authorization header (hashed "
                   "with SHA-256 and encoded with Base64): '%s'.",
                   name);
}

static span *part_named(struct sig_authorization *parts, span name)
{
    if (span_eq(name, SPAN_LIT("Credential"))) return &parts->credential;
    if (span_eq(name, SPAN_LIT("SignedHeaders"))) return &parts->signed_headers;
    if (span_eq(name, SPAN_LIT("Signature"))) return &parts->signature;
    return NULL;
}

sheaf_rc sig_authorization_parse(sheaf_error *err, span header, struct sig_authorization *parts_out)
{
    *parts_out = (struct sig_authorization){0};
    span rest = header, part;
    if (take(&rest, &part)) parts_out->algorithm = part;
    while (take(&rest, &part)) {
        const uint8_t *equals = memchr(part.p, '=', part.n);
        if (!equals) return no_pair(err, header);
        size_t n = (size_t)(equals - (const uint8_t *)part.p);
        span name = SPAN(part.p, n), *to = part_named(parts_out, name);
        if (!to) continue;
        if (to->p)
            return err_set(err, SHEAF_INCOMPLETE_SIGNATURE,
                           "Authorization header has more than one '%.*s' parameter.",
                           SPAN_ARG(name));
        *to = span_from(part, n + 1);
    }
    return SHEAF_OK;
}

sheaf_rc sig_authorization_check(sheaf_error *err, span header,
                                 const struct sig_authorization *parts, bool has_date)
{
    if (parts->credential.n && parts->signature.n && parts->signed_headers.p && has_date)
        return SHEAF_OK;
    char name[48];
    TRY(header_name(err, header, name));
#define REQUIRES(what) "Authorization header requires " what " "
    return err_set(
        err, SHEAF_INCOMPLETE_SIGNATURE,
        "%s%s%s%s(Hashed with SHA-256 and encoded with Base64) Authorization=%s",
        parts->credential.n ? "" : REQUIRES("'Credential' parameter."),
        parts->signature.n ? "" : REQUIRES("'Signature' parameter."),
        parts->signed_headers.p ? "" : REQUIRES("'SignedHeaders' parameter."),
        has_date ? "" : REQUIRES("existence of either a 'X-Amz-Date' or a 'Date' header."), name);
#undef REQUIRES
}

sheaf_rc sig_scope_parse(sheaf_error *err, span credential, struct sig_scope *scope_out)
{
    *scope_out = (struct sig_scope){0};
    span *const parts[] = {&scope_out->key_id, &scope_out->date, &scope_out->region,
                           &scope_out->service, &scope_out->term};
    const uint8_t *p = credential.p;
    size_t n = credential.n, from = 0, found = 0;
    while (n && p[n - 1] == '/') n--;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && p[i] != '/') continue;
        if (found < 5) *parts[found] = SPAN(p + from, i - from);
        found++;
        from = i + 1;
    }
    if (found == 5) return SHEAF_OK;
    return err_set(err, SHEAF_INCOMPLETE_SIGNATURE,
                   "Credential must have exactly 5 slash-delimited elements, e.g. "
                   "keyid/date/region/service/term, got '%s'",
                   sig_show(credential).s);
}
