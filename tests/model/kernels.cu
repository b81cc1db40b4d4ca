// The row arithmetic as a CUDA compiler reads it: one thread is one lane. `./dev test cuda` compiles it to PTX;
// nothing runs it yet.
#include "alidade/model/ascent_kernel.hpp"
#include "alidade/model/coordinate_kernel.hpp"
#include "alidade/model/divergence_kernel.hpp"
#include "alidade/model/eigenvalue_kernel.hpp"
#include "alidade/model/error_kernel.hpp"
#include "alidade/model/fisher_kernel.hpp"
#include "alidade/model/width_kernel.hpp"

namespace alidade::detail {

__global__ void expect(Rows rows, const double* weights, const double* value, double* law, double* expected) {
    laws_of<double>(rows, weights, law);
    *expected = expectation_of<double>(law, value, rows.successors);
}

__global__ void ascend(AscentStep step, PairRows pairs, double* witness, double* scratch, double* values,
                       bool* moved) {
    AscentKernel::run<double>(step, pairs, witness, scratch, values, moved);
}

__global__ void ascend_coordinates(CoordinateStep step, Tile tile, const double* value, double* witness,
                                   double* scratch, double* values, bool* moved) {
    CoordinateKernel::run<double>(step, tile, value, witness, scratch, values, moved);
}

__global__ void error(ErrorStep step, ErrorLanes<double> lane, double* errors) {
    double strange = 0;
    errors[0] = error_of<double>(step, lane, strange);
    errors[1] = strange;
}

__global__ void bonus(FisherBlock block, FisherShared shared, double* scratch, double* numbers) {
    BonusKernel::run<double>(block, shared, scratch, numbers);
}

__global__ void backup(FisherBlock block, Index features, const double* weights, const double* value,
                       double* scratch, double* expected) {
    BackupKernel::run<double>(block, features, weights, value, scratch, expected);
}

__global__ void take_logarithm(double* number) {
    *number = logarithm(*number);
}

}  // namespace alidade::detail
