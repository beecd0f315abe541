#include "instruction_sets.h"

#include <stdexcept>
#include <string>

#include <nanobind/stl/string.h>

#include "module.h"

#if defined(SUFFICE_X86) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace suffice {
namespace {

InstructionSet detect() {
#if defined(SUFFICE_X86) && defined(_MSC_VER)
    int leaf[4];
    __cpuid(leaf, 1);
    const bool saved = (leaf[2] >> 27) & 1;  // the operating system saves wide registers
    const unsigned long long state = saved ? _xgetbv(0) : 0;
    __cpuidex(leaf, 7, 0);
    const bool wide = (leaf[1] >> 16 & 1) && (leaf[1] >> 17 & 1) && (leaf[1] >> 30 & 1) && (leaf[1] >> 31 & 1);
    if (wide && (state & 0xE6) == 0xE6) return InstructionSet::avx512;
    if ((leaf[1] >> 5 & 1) && (state & 0x6) == 0x6) return InstructionSet::avx2;
#elif defined(SUFFICE_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw"))
        return InstructionSet::avx512;
    if (__builtin_cpu_supports("avx2")) return InstructionSet::avx2;
#endif
    return InstructionSet::baseline;
}

const InstructionSet widest = detect();
InstructionSet chosen = widest;
constexpr const char* NAMES[] = {"baseline", "avx2", "avx512"};

}  // namespace

InstructionSet instruction_set() { return chosen; }

void bind_instruction_sets(nb::module_& m) {
    m.def(
        "instruction_set", [] { return std::string(NAMES[static_cast<int>(chosen)]); },
        "Return the name of the instruction set that loops use.");
    m.def(
        "use_instruction_set",
        [](const std::string& name) {
            for (int set = 0; set <= static_cast<int>(widest); ++set) {
                if (name == NAMES[set]) {
                    chosen = static_cast<InstructionSet>(set);
                    return;
                }
            }
            throw std::invalid_argument("This machine has no instruction set " + name + ".");
        },
        nb::arg("name"), "Let loops use another instruction set: for tests.");
}

}  // namespace suffice
