/* core/enums.h: members of requests that must be one of a set of names. Requests come from C
 * programs and from the wire, so no layer above is believed to have looked. */
#ifndef CORE_ENUMS_H
#define CORE_ENUMS_H

#include "base/err.h"

/* SHEAF_VALIDATION in AWS's words unless 0 <= value <= last. There is no name for a value outside,
 * so the number stands for it. at: the member's path; set: AWS's list, "[B, N, S]". */
SHEAF_NODISCARD sheaf_rc enum_check(struct ctx *c, int64_t value, int64_t last, const char *at,
                                    const char *set);

#define ENUM_CAPACITY_SET "[INDEXES, TOTAL, NONE]"
#define ENUM_RETURN_SET "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
#define ENUM_SELECT_SET "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"
#define ENUM_PROJECTION_SET "[ALL, INCLUDE, KEYS_ONLY]"
#define ENUM_VIEW_SET "[NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY]"
#define ENUM_ITERATOR_SET "[AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON]"
#define ENUM_SWITCH_SET "[true, false]"

#endif
