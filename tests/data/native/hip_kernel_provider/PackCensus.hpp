// Stand-in: the kernels of a pack are the lines of the file $CENSUS_DIR/<pack>, the arch is $CENSUS_ARCH.
#pragma once
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace hip_kernel_provider {

inline std::string testedArch()
{
    return std::getenv("CENSUS_ARCH");
}

inline std::vector<std::string> installedKernels(const std::string& pack)
{
    std::ifstream file(std::string(std::getenv("CENSUS_DIR")) + "/" + pack);
    std::vector<std::string> names;
    for (std::string line; std::getline(file, line);) {
        names.push_back(line);
    }
    return names;
}

} // namespace hip_kernel_provider
