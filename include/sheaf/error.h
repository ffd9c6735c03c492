/* <sheaf/error.h>: return codes and the caller-owned error.
 *
 * Layer rule: includes nothing of Sheaf. Compiles alone, in C11 and in C++.
 *
 * Every call that can fail returns a sheaf_rc; SHEAF_OK is 0. Detail goes into a `struct
 * sheaf_error` that the caller owns, usually on the stack: no allocation, no thread-local state,
 * nothing to free. Passing NULL for it is allowed everywhere.
 */
#ifndef SHEAF_ERROR_H
#define SHEAF_ERROR_H

#include <stdint.h>

#if defined(__GNUC__)
#define SHEAF_NODISCARD __attribute__((warn_unused_result))
#define SHEAF_PRINTF_(f, a) __attribute__((format(printf, f, a)))
#define SHEAF_API __attribute__((visibility("default")))
#else
#define SHEAF_NODISCARD
#define SHEAF_PRINTF_(f, a)
#define SHEAF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* X(code, exception name, HTTP status, may the same request succeed when repeated?, what it means)
 *
 * The one list of errors: the enum, sheaf_rc_exception(), the HTTP status, the client's decoding
 * and docs/errors.md come from it. The first block are the names AWS uses; the second block is what
 * happens below the API and is turned into InternalServerError (or replayed) before a DynamoDB
 * client could see it; the third block are AWS's names again. A new code goes to the end, since
 * the numbers are compiled into programs. */
/* clang-format off */
#define SHEAF_ERRORS(X) \
    X(VALIDATION, "ValidationException", 400, 0, "the request is malformed or breaks a limit") \
    X(CONDITIONAL_CHECK_FAILED, "ConditionalCheckFailedException", 400, 0, "the condition did not hold; nothing was written") \
    X(RESOURCE_NOT_FOUND, "ResourceNotFoundException", 400, 0, "no such table, index or stream") \
    X(RESOURCE_IN_USE, "ResourceInUseException", 400, 0, "the table exists already or is being changed") \
    X(LIMIT_EXCEEDED, "LimitExceededException", 400, 0, "too many tables, indexes or simultaneous changes") \
    X(ITEM_COLLECTION_SIZE, "ItemCollectionSizeLimitExceededException", 400, 0, "an item collection with an LSI would pass 10 GB") \
    X(TRANSACTION_CANCELED, "TransactionCanceledException", 400, 0, "a transaction was refused; the reasons travel in the result") \
    X(TRANSACTION_CONFLICT, "TransactionConflictException", 400, 1, "another transaction holds the item") \
    X(TRANSACTION_IN_PROGRESS, "TransactionInProgressException", 400, 1, "the same token is still being worked on") \
    X(IDEMPOTENT_MISMATCH, "IdempotentParameterMismatchException", 400, 0, "the token was used with another request") \
    X(THROUGHPUT_EXCEEDED, "ProvisionedThroughputExceededException", 400, 1, "the table's or the key's throughput is used up") \
    X(THROTTLED, "ThrottlingException", 400, 1, "too many requests") \
    X(SERIALIZATION, "SerializationException", 400, 0, "the request is not the JSON that the operation takes") \
    X(UNKNOWN_OPERATION, "UnknownOperationException", 400, 0, "no such operation") \
    X(ACCESS_DENIED, "AccessDeniedException", 400, 0, "the key may not do this") \
    X(EXPIRED_ITERATOR, "ExpiredIteratorException", 400, 0, "a shard iterator is older than 15 minutes") \
    X(TRIMMED_DATA, "TrimmedDataAccessException", 400, 0, "a stream's records of that age are gone") \
    X(INTERNAL, "InternalServerError", 500, 1, "a fault of ours") \
    X(NOMEM, "InternalServerError", 500, 1, "out of memory, or over a buffer's ceiling") \
    X(CONFLICT, "TransactionConflictException", 400, 1, "engine: certainly not committed, replay the body") \
    X(UNKNOWN_OUTCOME, "InternalServerError", 500, 1, "engine: committed or not, resolve it by a token") \
    X(RETRY_LATER, "InternalServerError", 503, 1, "engine: not available at the moment") \
    X(TOO_OLD, "InternalServerError", 500, 1, "engine: the snapshot is no longer kept") \
    X(TOO_LARGE, "ValidationException", 400, 0, "engine: a key, value or transaction is over the engine's caps") \
    X(FENCED, "InternalServerError", 500, 0, "engine: another owner took over; this handle may not write") \
    X(IO, "InternalServerError", 500, 0, "engine: the disk or the network failed; the handle must be reopened") \
    X(CORRUPT, "InternalServerError", 500, 0, "stored bytes are not what was written") \
    X(IN_USE, "InternalServerError", 500, 0, "another process has the data directory open") \
    X(FORMAT, "InternalServerError", 500, 0, "the data was written by a newer release") \
    X(UNSUPPORTED, "InternalServerError", 500, 0, "this engine cannot do that") \
    X(MISSING_AUTH, "MissingAuthenticationTokenException", 400, 0, "the request carries no signature") \
    X(INCOMPLETE_SIGNATURE, "IncompleteSignatureException", 400, 0, "the Authorization header does not say all it should") \
    X(INVALID_SIGNATURE, "InvalidSignatureException", 400, 0, "the signature, its scope or its date is wrong") \
    X(UNRECOGNIZED_CLIENT, "UnrecognizedClientException", 400, 0, "no such access key or session token") \
    X(EXPIRED_TOKEN, "ExpiredTokenException", 400, 0, "the session token's time is over") \
    X(TABLE_NOT_FOUND, "TableNotFoundException", 400, 0, "no such table, in the words of the backup operations")
/* clang-format on */

typedef enum sheaf_rc {
    SHEAF_OK = 0,
#define SHEAF_X_(code, name, status, again, what) SHEAF_##code,
    SHEAF_ERRORS(SHEAF_X_)
#undef SHEAF_X_
        SHEAF_RC_COUNT_
} sheaf_rc;

/* 512 bytes for ever: it lives in storage of the caller, whose program may be older than the
 * library. */
typedef struct sheaf_error {
    const char *exception; /* AWS's exception name, static storage; "" when there was no error */
    sheaf_rc rc;
    int32_t action; /* which member of a batch or transaction, or -1; see <sheaf/sheaf.h> */
    char message[496];
} sheaf_error;

/* The exception name of a code: static storage, never NULL. */
SHEAF_API const char *sheaf_rc_exception(sheaf_rc rc);
/* The HTTP status that goes with a code: 200 for SHEAF_OK. */
SHEAF_API int sheaf_rc_status(sheaf_rc rc);
/* Whether repeating the same request later may succeed: 0 or 1. */
SHEAF_API int sheaf_rc_is_retryable(sheaf_rc rc);

#ifdef __cplusplus
}
#endif
#endif
