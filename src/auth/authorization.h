/* auth/authorization.h: the Authorization header of Signature Version 4, taken apart.
 *
 *   AWS4-HMAC-SHA256 Credential=AKID/20150830/us-east-1/dynamodb/aws4_request,
 *       SignedHeaders=host;x-amz-date;x-amz-target, Signature=64 hex digits
 *
 * Parts are separated by commas, white space or both, and come in any order. */
#ifndef AUTH_AUTHORIZATION_H
#define AUTH_AUTHORIZATION_H

#include "auth/crypto.h"

/* Spans of the header. A part that is not there has p == NULL. */
struct sig_authorization {
    span algorithm, credential, signed_headers, signature;
};

/* Fails with INCOMPLETE_SIGNATURE when a part is not name=value or comes twice. What else is
 * missing or wrong is for sig_authorization_check and the verifier. Other names are passed over. */
SHEAF_NODISCARD sheaf_rc sig_authorization_parse(sheaf_error *err, span header,
                                                 struct sig_authorization *parts_out);

/* One message for all that is missing, in AWS's words and order, or SHEAF_OK. The header itself is
 * named by its hash: an error message ends up in logs, where an Authorization must not. */
SHEAF_NODISCARD sheaf_rc sig_authorization_check(sheaf_error *err, span header,
                                                 const struct sig_authorization *parts,
                                                 bool has_date);

/* keyid/date/region/service/term */
struct sig_scope {
    span key_id, date, region, service, term;
};
/* Fails with INCOMPLETE_SIGNATURE unless there are five elements; slashes at the end do not count. */
SHEAF_NODISCARD sheaf_rc sig_scope_parse(sheaf_error *err, span credential,
                                         struct sig_scope *scope_out);

/* What a client sent, fit for a message: at most SIG_SHOWN bytes, printable ASCII, others as '?'. */
enum { SIG_SHOWN = 100 };
struct sig_text {
    char s[SIG_SHOWN + 1];
};
struct sig_text sig_show(span s);

#endif
