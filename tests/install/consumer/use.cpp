/* The same from C++. */
#include <iostream>
#include <sheaf/error.h>
#include <sheaf/sys/engine.h>

int main()
{
    std::cout << sheaf_rc_exception(SHEAF_VALIDATION) << ' ' << sheaf_rc_status(SHEAF_VALIDATION)
              << '\n';
}
