#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "alidade/model/start_law.hpp"
#include "alidade/types.hpp"

/// Between NumPy and the library: views of what the library keeps, and what users hand over, whatever its
/// type.
namespace alidade::python {

namespace nb = nanobind;

template <class T>
using View = nb::ndarray<nb::numpy, const T>;
template <class T>
using Contiguous = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

/// A read-only array over numbers that `owner` keeps, without a copy.
template <class T>
View<T> view(std::span<const T> numbers, std::initializer_list<std::size_t> shape, nb::handle owner) {
    return View<T>(numbers.data(), shape, owner);
}

/// An array that owns the numbers moved into it.
template <class T>
View<T> own(std::vector<T> numbers, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(numbers));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return View<T>(kept->data(), shape, owner);
}

/// A matrix as an array of its rows: a view, since ours are column after column, of an array in that order.
nb::object rows_of(const Matrix& matrix, nb::handle owner);
/// The same of a matrix that nobody else keeps.
nb::object own_rows(Matrix matrix);
nb::object own_vector(const Vector& vector);

/// An array of numbers as the library has them: contiguous doubles, copied only where they are not that
/// already. Throws InvalidArgument, with `what` for its name, where it is no array of numbers.
Contiguous<double> doubles(nb::handle object, const char* what);
/// The same of whole numbers, of any integer type.
Contiguous<std::int64_t> integers(nb::handle object, const char* what);
/// Whether an object would be an array of whole numbers.
bool holds_integers(nb::handle object);

/// "(3, 4)" of an array.
template <class Array>
std::string shape_text(const Array& array) {
    std::string text = "(";
    for (std::size_t i = 0; i < array.ndim(); ++i) text += (i ? ", " : "") + std::to_string(array.shape(i));
    return text + (array.ndim() == 1 ? ",)" : ")");
}

template <class T>
std::vector<T> copied(const Contiguous<T>& array) {
    return std::vector<T>(array.data(), array.data() + array.size());
}

/// A two-dimensional array as a matrix. Throws InvalidArgument, naming it, for another number of dimensions.
Matrix matrix_of(nb::handle object, const char* what);

/// The law of the first state: a state, a dictionary or a list of pairs of states and probabilities, an array
/// of one probability a state, or a StartLaw.
StartLaw start_of(nb::handle object);

/// Whole numbers of any type that Python takes for one. Throws a Python TypeError for others.
std::int64_t integer_of(nb::handle object);

}  // namespace alidade::python
