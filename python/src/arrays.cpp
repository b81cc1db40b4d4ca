#include "arrays.hpp"

#include <fmt/format.h>

#include <utility>

#include "alidade/error.hpp"

namespace alidade::python {

namespace {

nb::object numpy(const char* name) {
    return nb::module_::import_("numpy").attr(name);
}

nb::object as_array(nb::handle object, const char* what) {
    nb::object array = numpy("asarray")(object);
    const std::string kind = nb::cast<std::string>(nb::object(array.attr("dtype").attr("kind")));
    expects(kind == "i" || kind == "u" || kind == "f" || kind == "b",
            "{} holds values of type {}; must be numbers", what,
            nb::cast<std::string>(nb::str(nb::object(array.attr("dtype")))));
    return array;
}

template <class T>
Contiguous<T> contiguous(const nb::object& array, const char* type) {
    // At least one dimension is what ascontiguousarray gives.
    return nb::cast<Contiguous<T>>(nb::object(numpy("ascontiguousarray")(array, numpy(type))));
}

}  // namespace

Contiguous<double> doubles(nb::handle object, const char* what) {
    return contiguous<double>(as_array(object, what), "float64");
}

Contiguous<std::int64_t> integers(nb::handle object, const char* what) {
    const nb::object array = as_array(object, what);
    expects(holds_integers(array) || nb::cast<std::int64_t>(nb::object(array.attr("size"))) == 0,
            "{} holds values of type {}; must be whole numbers", what,
            nb::cast<std::string>(nb::str(nb::object(array.attr("dtype")))));
    return contiguous<std::int64_t>(array, "int64");
}

bool holds_integers(nb::handle object) {
    const nb::object array = numpy("asarray")(object);
    const std::string kind = nb::cast<std::string>(nb::object(array.attr("dtype").attr("kind")));
    return kind == "i" || kind == "u" || kind == "b";
}

nb::object rows_of(const Matrix& matrix, nb::handle owner) {
    const auto rows = static_cast<std::size_t>(matrix.rows()),
               columns = static_cast<std::size_t>(matrix.cols());
    return nb::cast(nb::ndarray<nb::numpy, const double>(matrix.data(), {rows, columns}, owner,
                                                         {1, static_cast<std::int64_t>(rows)}));
}

nb::object own_rows(Matrix matrix) {
    auto* kept = new Matrix(std::move(matrix));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Matrix*>(p); });
    return rows_of(*kept, owner);
}

nb::object own_vector(const Vector& vector) {
    return nb::cast(own(std::vector<double>(vector.data(), vector.data() + vector.size()),
                        {static_cast<std::size_t>(vector.size())}));
}

Matrix matrix_of(nb::handle object, const char* what) {
    const auto array = doubles(object, what);
    expects(array.ndim() == 2, "{} has shape {}; must have two dimensions", what, shape_text(array));
    const auto rows = static_cast<Index>(array.shape(0)), columns = static_cast<Index>(array.shape(1));
    return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        array.data(), rows, columns);
}

std::int64_t integer_of(nb::handle object) {
    nb::object number = nb::steal(PyNumber_Index(object.ptr()));
    if (!number.is_valid()) throw nb::python_error();
    const long long value = PyLong_AsLongLong(number.ptr());
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return value;
}

StartLaw start_of(nb::handle object) {
    if (nb::isinstance<StartLaw>(object)) return nb::cast<StartLaw>(object);
    if (PyIndex_Check(object.ptr()) && !nb::hasattr(object, "__len__")) return StartLaw(integer_of(object));
    std::vector<std::pair<State, double>> atoms;
    const auto add = [&](nb::handle state, nb::handle probability) {
        atoms.emplace_back(integer_of(state), nb::cast<double>(nb::float_(probability)));
    };
    if (nb::isinstance<nb::dict>(object)) {
        for (const auto& [state, probability] : nb::borrow<nb::dict>(object)) add(state, probability);
        return StartLaw(std::move(atoms));
    }
    if (nb::isinstance<nb::list>(object) && nb::len(object) > 0 &&
        nb::isinstance<nb::tuple>(nb::object(object[0]))) {
        for (const nb::handle pair : nb::borrow<nb::list>(object))
            add(nb::object(pair[0]), nb::object(pair[1]));
        return StartLaw(std::move(atoms));
    }
    const auto law = doubles(object, "start");
    expects(law.ndim() == 1, "start has shape {}; must be one probability a state", shape_text(law));
    for (std::size_t s = 0; s < law.size(); ++s)
        if (law.data()[s] != 0) atoms.emplace_back(static_cast<State>(s), law.data()[s]);
    return StartLaw(std::move(atoms));
}

}  // namespace alidade::python
