/* Requests of different calls are different types. */
/* error: incompatible pointer type */
/* names: struct sheaf_get_item */
#include <sheaf/sheaf.h>

sheaf_rc use(sheaf_db *db);
sheaf_rc use(sheaf_db *db)
{
#ifdef MISTAKE
    return sheaf_put_item(db, &(struct sheaf_get_item){.table = "shop"}, NULL);
#else
    return sheaf_get_item(db, &(struct sheaf_get_item){.table = "shop"}, NULL);
#endif
}
