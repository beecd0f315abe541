// Which of several compilations of a loop this machine runs best.
//
// A file in loops/ is compiled once for each instruction set, each time in a namespace of that
// set's name (SUFFICE_SET), and ends with a table of its functions. `best` picks a table. No loop
// lets the compiler reorder or fuse what it adds up, so all tables give the same bits.
#pragma once

namespace suffice {

enum class InstructionSet { baseline, avx2, avx512 };

// The widest set that the processor and the operating system have, or what was asked for since.
InstructionSet instruction_set();

#ifdef SUFFICE_X86
#define SUFFICE_TABLES(TYPE, NAME) \
    namespace baseline {           \
    extern const TYPE NAME;        \
    }                              \
    namespace avx2 {               \
    extern const TYPE NAME;        \
    }                              \
    namespace avx512 {             \
    extern const TYPE NAME;        \
    }
#define SUFFICE_BEST(NAME)                                      \
    (instruction_set() == InstructionSet::avx512 ? avx512::NAME \
     : instruction_set() == InstructionSet::avx2 ? avx2::NAME   \
                                                 : baseline::NAME)
#else
#define SUFFICE_TABLES(TYPE, NAME) \
    namespace baseline {           \
    extern const TYPE NAME;        \
    }
#define SUFFICE_BEST(NAME) baseline::NAME
#endif

}  // namespace suffice
