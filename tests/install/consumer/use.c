/* A program of somebody else's. */
#include <sheaf/error.h>
#include <sheaf/sys/engine.h>
#include <stdio.h>

int main(void)
{
    printf("%s %d\n", sheaf_rc_exception(SHEAF_VALIDATION), sheaf_rc_status(SHEAF_VALIDATION));
    return 0;
}
