// Products of matrices, by the BLAS that scipy has loaded.
#pragma once

#include <cstddef>

namespace suffice {

// Its functions as Fortran declares them; `blas` finds them at the first call, which needs the
// interpreter's lock.
struct Blas {
    void (*dgemm)(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
                  const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
                  const int* ldc);
    void (*sgemm)(const char* transa, const char* transb, const int* m, const int* n, const int* k, const float* alpha,
                  const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
                  const int* ldc);

    // c (rows, columns) = beta c + a b, all in C order: a (rows, inner), b (inner, columns). With
    // `a_across` a is (inner, rows), with `b_across` b is (columns, inner). `a_step`, `b_step` and
    // `c_step` are the numbers from a line to the next.
    void multiply(const double* a, std::size_t a_step, bool a_across, const double* b, std::size_t b_step,
                  bool b_across, std::size_t rows, std::size_t inner, std::size_t columns, double beta, double* c,
                  std::size_t c_step) const {
        // Fortran's order is the transpose of C's: c' = b' a'.
        const char first = b_across ? 'T' : 'N', second = a_across ? 'T' : 'N';
        const int m = static_cast<int>(columns), n = static_cast<int>(rows), k = static_cast<int>(inner);
        const int ldb = static_cast<int>(b_step), lda = static_cast<int>(a_step), ldc = static_cast<int>(c_step);
        const double one = 1.0;
        dgemm(&first, &second, &m, &n, &k, &one, b, &ldb, a, &lda, &beta, c, &ldc);
    }

    // c (rows, columns) = a (rows, inner) b (inner, columns) in single precision.
    void multiply(const float* a, std::size_t a_step, const float* b, std::size_t b_step, std::size_t rows,
                  std::size_t inner, std::size_t columns, float* c, std::size_t c_step) const {
        const char plain = 'N';
        const int m = static_cast<int>(columns), n = static_cast<int>(rows), k = static_cast<int>(inner);
        const int ldb = static_cast<int>(b_step), lda = static_cast<int>(a_step), ldc = static_cast<int>(c_step);
        const float one = 1.0f, zero = 0.0f;
        sgemm(&plain, &plain, &m, &n, &k, &one, b, &ldb, a, &lda, &zero, c, &ldc);
    }
};

const Blas& blas();

}  // namespace suffice
