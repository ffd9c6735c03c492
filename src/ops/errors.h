/* ops/errors.h: failures as the wire has them. */
#ifndef OPS_ERRORS_H
#define OPS_ERRORS_H

#include "ops/ops.h"
#include "ops/shape.h"

/* Replaces the reply by the error's: status, __type, message, and what the call says goes with it.
 * Never fails: when memory is out the body is static text. `c->err` must be there. */
void error_reply(struct ctx *c, sheaf_rc rc, const struct op_call *call, struct op_reply *out);

#endif
