// Stand-in for the provider's header: just enough to compile generated hooks and to run what they register.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace hip_kernel_provider {

struct NotWritten : std::logic_error {
    explicit NotWritten(const std::string& hook) : std::logic_error(hook + " is not written yet") {}
};

struct Graph {};
struct Launch {};

struct KernelMetadata {
    bool getBoolMetadata(const std::string&) const { return false; }
    std::int64_t getIntMetadata(const std::string&) const { return 0; }
    double getFloatMetadata(const std::string&) const { return 0; }
    std::string getStringMetadata(const std::string&) const { return {}; }
    std::vector<std::int64_t> getIntListMetadata(const std::string&) const { return {}; }
};

struct HookRegistry {
    std::set<std::string> names;
    void addGraphMatch(const std::string& name, bool (*)(const Graph&)) { names.insert(name); }
    void addKernelMatch(const std::string& name, bool (*)(const Graph&, const KernelMetadata&)) { names.insert(name); }
    void addScore(const std::string& name, double (*)(const Graph&, const KernelMetadata&)) { names.insert(name); }
    void addDispatch(const std::string& name, void (*)(const Graph&, const KernelMetadata&, Launch&)) { names.insert(name); }
    bool has(const std::string& name) const { return names.count(name) == 1; }
};

inline int waveSize(const std::string& arch)
{
    for (const char* prefix : {"gfx10", "gfx11", "gfx12"}) {
        if (arch.rfind(prefix, 0) == 0) {
            return 32;
        }
    }
    return 64;
}

} // namespace hip_kernel_provider
