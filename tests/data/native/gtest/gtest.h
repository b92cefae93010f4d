// Stand-in: tests run in order, and the process ends with the number of expectations that failed.
#pragma once
#include <cstdio>
#include <vector>

inline std::vector<void (*)()>& allTests()
{
    static std::vector<void (*)()> tests;
    return tests;
}

inline int& failures()
{
    static int count = 0;
    return count;
}

#define TEST(suite, name)                                                                                              \
    static void suite##_##name();                                                                                      \
    static const bool suite##_##name##_listed = (allTests().push_back(suite##_##name), true);                          \
    static void suite##_##name()
#define EXPECT_TRUE(condition)                                                                                         \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            ++failures();                                                                                              \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                \
        }                                                                                                              \
    } while (false)
#define EXPECT_EQ(a, b) EXPECT_TRUE((a) == (b))
#define EXPECT_GT(a, b) EXPECT_TRUE((a) > (b))
