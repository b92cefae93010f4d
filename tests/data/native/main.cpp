#include <gtest/gtest.h>

int main()
{
    for (auto test : allTests()) {
        test();
    }
    return failures();
}
