/* A call that may fail is not ignored silently. */
/* error: ignoring return value of .*declared with */
/* names: sheaf_put_item */
#include <sheaf/sheaf.h>

sheaf_rc use(sheaf_db *db, const struct sheaf_put_item *q);
sheaf_rc use(sheaf_db *db, const struct sheaf_put_item *q)
{
#ifdef MISTAKE
    sheaf_put_item(db, q, NULL);
    return SHEAF_OK;
#else
    return sheaf_put_item(db, q, NULL);
#endif
}
