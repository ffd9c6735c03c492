/* base/limits.h: every limit of the service, in one table. The checks, docs/limits.md and the N /
 * N+1 tests come from it. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* X(name, value, unit, what is limited) */
/* clang-format off */
#define SHEAF_LIMITS(X) \
    X(ITEM_BYTES, 409600, "bytes", "an item: the UTF-8 length of its names plus the size of its values") \
    X(NESTING, 32, "levels", "an attribute's value, the value itself being the first level") \
    X(NUMBER_DIGITS, 38, "digits", "significant digits of a number") \
    X(NUMBER_EXPONENT_MAX, 125, "power of ten", "magnitude of a number, at most 9.99…E+125") \
    X(NUMBER_EXPONENT_MIN, -130, "power of ten", "magnitude of a number other than zero, at least 1E-130") \
    X(ATTRIBUTE_NAME_BYTES, 65535, "bytes", "an attribute name") \
    X(KEY_NAME_BYTES, 255, "bytes", "the name of a key attribute, a TTL attribute or a projected attribute") \
    X(PARTITION_KEY_BYTES, 2048, "bytes", "a partition key value") \
    X(SORT_KEY_BYTES, 1024, "bytes", "a sort key value") \
    X(INDEX_HASH_ATTRIBUTES, 4, "attributes", "HASH attributes of a global secondary index") \
    X(INDEX_RANGE_ATTRIBUTES, 4, "attributes", "RANGE attributes of a global secondary index") \
    X(TABLE_NAME_MIN, 3, "characters", "a table or index name, at least") \
    X(TABLE_NAME_MAX, 255, "characters", "a table or index name, at most") \
    X(LOCAL_INDEXES, 5, "indexes", "local secondary indexes of a table") \
    X(GLOBAL_INDEXES, 20, "indexes", "global secondary indexes of a table") \
    X(INDEX_NON_KEY_ATTRIBUTES, 20, "attributes", "NonKeyAttributes of one index") \
    X(TABLE_NON_KEY_ATTRIBUTES, 100, "attributes", "NonKeyAttributes of all indexes of a table") \
    X(TAGS, 50, "tags", "tags of a table") \
    X(TAG_KEY, 128, "characters", "the key of a tag") \
    X(TAG_VALUE, 256, "characters", "the value of a tag") \
    X(KMS_KEY_BYTES, 2048, "bytes", "a KMSMasterKeyId") \
    X(LIST_TABLES, 100, "names", "a page of ListTables") \
    X(EXPRESSION_BYTES, 4096, "bytes", "an expression, before names are substituted") \
    X(EXPRESSION_OPERATORS, 300, "operators", "operators and functions of one expression") \
    X(IN_OPERANDS, 100, "operands", "right-hand operands of IN") \
    X(PLACEHOLDER_BYTES, 255, "bytes", "an expression attribute name or value placeholder") \
    X(PLACEHOLDER_VALUES_BYTES, 2097152, "bytes", "all expression attribute values together") \
    X(ENGINE_KEY_BYTES, 6144, "bytes", "a whole engine key (mem and rocks)") \
    X(ENGINE_KEY_BYTES_ORDINARY, 2600, "bytes", "an engine key without multi-attribute RANGE keys")
/* clang-format on */

enum {
#define X(name, value, unit, what) LIMIT_##name = (value),
    SHEAF_LIMITS(X)
#undef X
};

#endif
