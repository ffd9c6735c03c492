/* auth/crypto.h: SHA-256, HMAC-SHA256 and the signing keys of a secret, through OpenSSL's EVP.
 *
 * Algorithms are fetched once per process: a fetch by name costs more than the hash of a request. */
#ifndef AUTH_CRYPTO_H
#define AUTH_CRYPTO_H

#include "auth/auth.h"

enum { SIG_HASH = 32, SIG_HEX = 64, SIG_DAY = 8, SIG_REGION_MAX = 64 };

/* OpenSSL refuses only when its providers do not load or memory is out: SHEAF_INTERNAL. */
SHEAF_NODISCARD sheaf_rc sig_sha256(sheaf_error *err, span s, uint8_t out[SIG_HASH]);

/* What signs: the HMAC of `text` under the key derived from the secret for that day ("20150830"),
 * region and DynamoDB. region has 1 to SIG_REGION_MAX bytes. Derived keys are kept. Any thread. */
SHEAF_NODISCARD sheaf_rc sig_hmac(sheaf_error *err, struct sig_secret *secret, span day,
                                  span region, span text, uint8_t out[SIG_HASH]);

/* In a time that depends on the length only. */
bool sig_same(const void *a, const void *b, size_t n);

/* Lower case, as signatures are written. */
void sig_hex(const uint8_t hash[SIG_HASH], char out[SIG_HEX]);
/* Exactly 64 digits of lower case; false otherwise. */
bool sig_unhex(span hex, uint8_t out[SIG_HASH]);

#endif
