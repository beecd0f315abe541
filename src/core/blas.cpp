#include "blas.h"

#include "module.h"

namespace suffice {
namespace {

template <class Function>
void find(const nb::object& functions, const char* name, Function& function) {
    const nb::object capsule = functions[name];
    void* address = PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
    if (address == nullptr) throw nb::python_error();
    function = reinterpret_cast<Function>(address);
}

}  // namespace

const Blas& blas() {
    static Blas found{};
    if (found.sgemm == nullptr) {
        nb::gil_scoped_acquire lock;
        const nb::object functions = nb::module_::import_("scipy.linalg.cython_blas").attr("__pyx_capi__");
        find(functions, "dgemm", found.dgemm);
        find(functions, "sgemm", found.sgemm);
    }
    return found;
}

}  // namespace suffice
