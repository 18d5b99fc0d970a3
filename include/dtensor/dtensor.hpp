/* SPDX-License-Identifier: Apache-2.0
 *
 * dtensor from C++17: the same functions, with options by name and the place of the call added. Header only.
 *
 *     #include <dtensor/dtensor.hpp>
 *
 *     int main() {
 *         dt::context ctx;
 *         dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2");
 *
 *         dt_tensor *x = dt_randn(ctx, DT_SHAPE(8, 4), dt::mesh = mesh, dt::place = "S(0),R");
 *         dt_tensor *w = dt_randn(ctx, DT_SHAPE(4, 6), dt::mesh = mesh, dt::place = "R,S(1)");
 *         dt_tensor *y = dt_gelu(dt_matmul(x, w));
 *         dt_tensor *s = dt_sum(y, dt::dim = -1, dt::keepdim = true);
 *
 *         dt_print(s);
 *         return ctx.close();
 *     }
 *
 *     $ c++ tutorial.cpp $(pkg-config --cflags --libs dtensor) -o tutorial
 *     $ dtrun -n 4 ./tutorial
 *     f32[8,1] S(0),P(sum) on mesh(dp=2,tp=2)
 *     ...
 *
 * What is .place = "R" in C is dt::place = "R" here. Options that a call does not have do not compile. Plain values
 * set the options in their order, and an options struct sets all of them. A number is a dim, a list of one dim, an
 * integer or a scalar, as the option needs it. DT_SHAPE, DT_DIMS, DT_INTS, DT_REALS and DT_TENSORS live until the end of
 * the full expression: to keep one, write `auto shape = DT_SHAPE(8, 4);`.
 *
 * Errors are those of C: NULL, and the context keeps the first one; nothing here throws. Functions without options are
 * those of dtensor.h.
 */
#ifndef DTENSOR_DTENSOR_HPP
#define DTENSOR_DTENSOR_HPP

#include <dtensor/dtensor.h>

#include <tuple>
#include <type_traits>
#include <utility>

namespace dt {

/* Integers: what DT_SHAPE, DT_DIMS and DT_INTS make. */
template <int N> struct integers {
    int64_t values[N > 0 ? N : 1];
    operator dt_shape() const { return {N, values}; }
    operator dt_dims() const { return {N, values}; }
    operator dt_ints() const { return {N, values}; }
};
template <class... T> integers<int(sizeof...(T))> list(T... values) { return {{static_cast<int64_t>(values)...}}; }

/* Floating-point numbers: what DT_REALS makes. */
template <int N> struct reals {
    double values[N > 0 ? N : 1];
    operator dt_reals() const { return {N, values}; }
};
template <class... T> reals<int(sizeof...(T))> real_list(T... values) { return {{static_cast<double>(values)...}}; }

/* Tensors: what DT_TENSORS makes. */
template <int N> struct tensor_list {
    dt_tensor *values[N];
    operator dt_tensors() const { return {N, values}; }
};
template <class... T> tensor_list<int(sizeof...(T))> tensors(T *...values) { return {{values...}}; }

/* A Scalar argument: an integer, a floating-point number or a boolean. */
struct number {
    dt_number value;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> number(T of) : value(make(of)) {}
    number(dt_number of) : value(of) {}
    operator dt_number() const { return value; }

  private:
    template <class T> static dt_number make(T of) {
        if constexpr (std::is_same_v<T, bool>)
            return dt_number_bool(of);
        else if constexpr (std::is_integral_v<T>)
            return dt_number_int(static_cast<int64_t>(of));
        else
            return dt_number_real(static_cast<double>(of));
    }
};

/* Where the outermost wrapper in progress was called (dt::caller); NULL: none is. */
inline thread_local const dt_site *wrapper_site = nullptr;

/* Where in the program a call is, as a default argument; inside a dt::caller, its site. */
inline dt_site here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return wrapper_site ? *wrapper_site : dt_site{file, line};
}

/* In a function that wraps calls, errors and warnings name the line that calls the function, and not lines in it: its
 * last parameter is `dt_site site = dt::here()`, and it begins with `dt::caller caller(site);`. Of wrappers that call
 * each other, the outermost one counts. */
class caller {
    dt_site site;
    const dt_site *before;

  public:
    explicit caller(dt_site of) : site(of), before(wrapper_site) {
        if (!before)
            wrapper_site = &site;
    }
    caller(const caller &) = delete;
    caller &operator=(const caller &) = delete;
    ~caller() { wrapper_site = before; }
};
inline const dt_site *address(const dt_site &site) { return &site; }

/* The first argument of a call, and where in the program the call is. */
template <class T> struct at {
    T value;
    dt_site site;
    template <class U, class = std::enable_if_t<std::is_convertible_v<const U &, T>>>
    at(const U &of, const char *file = __builtin_FILE(), int line = __builtin_LINE())
        : value(of), site(here(file, line)) {}
    operator T() const { return value; }
};

/* An option by name, as dt::place = "R" makes it. Numbers are kept as int64_t, which a list of one dim can point to. */
template <class Name, class T> struct option { T value; };

template <class Name> struct option_name {
    template <class T> constexpr auto operator=(T value) const {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
            return option<Name, int64_t>{static_cast<int64_t>(value)};
        else
            return option<Name, T>{value};
    }
};

/* Sets one field of an options struct, whose type defines what the value means. */
template <class Field, class T> void assign(Field &field, const T &value) {
    if constexpr (std::is_same_v<Field, dt_opt_int>) {
        field.given = true;
        field.value = value;
    } else if constexpr (std::is_same_v<Field, dt_opt_real>) {
        field.given = true;
        field.value = static_cast<double>(value);
    } else if constexpr (std::is_same_v<Field, dt_opt_bool>) {
        field.given = true;
        field.value = value;
    } else if constexpr (std::is_same_v<Field, dt_number>) {
        field = number(value);
    } else if constexpr ((std::is_same_v<Field, dt_dims> ||
                          std::is_same_v<Field, dt_ints>)&&std::is_same_v<T, int64_t>) {
        field.n = 1;
        field.list = &value;
    } else if constexpr (std::is_arithmetic_v<Field> && std::is_arithmetic_v<T>) {
        field = static_cast<Field>(value);
    } else {
        field = value;
    }
}

/* Pointers to the fields of an options struct, in their order. */
template <class Options> struct fields;

/* The options of one call, from names, from values in their order, or from a whole struct. */
template <class Options> struct named {
    Options value{};

    template <class... T> explicit named(const dt_site &site, const T &...options) {
        set<0>(options...);
        value.site = &site;
    }
    const Options *get() const { return &value; }

  private:
    template <int I> void set() {}
    template <int I, class T, class... Rest> void set(const T &first, const Rest &...rest) {
        if constexpr (std::is_same_v<T, Options>)
            value = first;
        else
            assign(value.*std::get<I>(fields<Options>::list), first);
        set<I + 1>(rest...);
    }
    template <int I, class Name, class T, class... Rest> void set(const option<Name, T> &first, const Rest &...rest) {
        assign(Name::field(value), first.value);
        set<I>(rest...);
    }
};

/* A context that is closed at the end of its scope; close() returns the exit code of the program. */
class context {
    dt_ctx *ctx;

  public:
    explicit context(const dt_init_options *options = nullptr, dt_site site = here())
        : ctx(dt_init_sized(options, sizeof *options, &site)) {}
    context(const context &) = delete;
    context &operator=(const context &) = delete;
    ~context() {
        if (ctx)
            close();
    }
    operator dt_ctx *() const { return ctx; }
    int close(dt_site site = here()) { return dt_close_site(std::exchange(ctx, nullptr), &site); }
};

/* Tensors made during its lifetime are dropped with it, unless they are kept; or with their context, if that is closed
 * earlier. */
class scope {
    dt_site site;
    uint64_t number;
    dt_scope inner;

  public:
    explicit scope(dt_ctx *ctx, dt_site at = here())
        : site(at), number(dt_ctx_number(ctx)), inner(dt_scope_begin_site(ctx, &site)) {}
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope() {
        if (dt_ctx_is_open(number))
            dt_scope_end_site(inner, &site);
    }
};

inline dt_tensor *retain(dt_tensor *object) { return dt_tensor_retain(object); }
inline dt_layout *retain(dt_layout *object) { return dt_layout_retain(object); }
inline dt_mesh *retain(dt_mesh *object) { return dt_mesh_retain(object); }
inline dt_spec *retain(dt_spec *object) { return dt_spec_retain(object); }
inline dt_group *retain(dt_group *object) { return dt_group_retain(object); }
inline dt_generator *retain(dt_generator *object) { return dt_generator_retain(object); }
inline void release(dt_tensor *object) { dt_tensor_release_site(object, nullptr); }
inline void release(dt_layout *object) { dt_layout_release_site(object, nullptr); }
inline void release(dt_mesh *object) { dt_mesh_release_site(object, nullptr); }
inline void release(dt_spec *object) { dt_spec_release_site(object, nullptr); }
inline void release(dt_group *object) { dt_group_release_site(object, nullptr); }
inline void release(dt_generator *object) { dt_generator_release_site(object, nullptr); }

inline dt_ctx *context_of(const dt_tensor *object) { return dt_tensor_ctx(object); }
inline dt_ctx *context_of(const dt_layout *object) { return dt_layout_ctx(object); }
inline dt_ctx *context_of(const dt_mesh *object) { return dt_mesh_ctx(object); }
inline dt_ctx *context_of(const dt_spec *object) { return dt_spec_ctx(object); }
inline dt_ctx *context_of(const dt_group *object) { return dt_group_ctx(object); }
inline dt_ctx *context_of(const dt_generator *object) { return dt_generator_ctx(object); }

/* A counted reference: takes over one that a maker returned (dt::ref mesh(dt_mesh_new(…))), or shares a tensor that
 * belongs to a scope (dt::ref<dt_tensor>::share(x)). Closing a context frees its objects: a reference that ends later
 * releases nothing, and a copy of it is empty; only using the object itself is an error then, as in C. */
template <class T> class ref {
    T *object;
    uint64_t number; /* of its context */

  public:
    explicit ref(T *made = nullptr) : object(made), number(dt_ctx_number(context_of(made))) {}
    static ref share(T *other) { return ref(retain(other)); }
    ref(const ref &other) : ref(dt_ctx_is_open(other.number) ? retain(other.object) : nullptr) {}
    ref(ref &&other) noexcept
        : object(std::exchange(other.object, nullptr)), number(std::exchange(other.number, 0)) {}
    ref &operator=(ref other) noexcept {
        std::swap(object, other.object);
        std::swap(number, other.number);
        return *this;
    }
    ~ref() {
        if (dt_ctx_is_open(number))
            release(object);
    }
    T *get() const { return object; }
    operator T *() const { return object; }
};

} // namespace dt

#ifndef DT_SITE /* dt_error_set is a macro, because its format is checked */
#define DT_SITE (::dt::address(::dt::here(__FILE__, __LINE__)))
#endif
#define DT_SHAPE(...)    (::dt::list(__VA_ARGS__))
#define DT_DIMS(...)     (::dt::list(__VA_ARGS__))
#define DT_INTS(...)     (::dt::list(__VA_ARGS__))
#define DT_REALS(...)    (::dt::real_list(__VA_ARGS__))
#define DT_TENSORS(...)  (::dt::tensors(__VA_ARGS__))
#define DT_NUMBER(value) (::dt::number(value))

#include <dtensor/calls.hpp>

inline dt_ctx *dt_init(dt_site site = dt::here()) { return dt_init_sized(nullptr, 0, &site); }

/* dt_call(ctx, "swiglu", gate, up) */
template <class... T> dt_tensor *dt_call(dt::at<dt_ctx *> ctx, const char *name, T *...tensors) {
    dt_tensor *const list[] = {tensors...};
    return dt_op_run_tensors(ctx, name, int(sizeof...(T)), list, &ctx.site);
}

/* dt_at(x, "1:-1, ?", index) and dt_set_at(x, value, "1:-1, ?", index) */
template <class... T> dt_tensor *dt_at(dt::at<dt_tensor *> tensor, const char *index, T *...tensors) {
    dt_tensor *const list[] = {tensors..., nullptr};
    return dt_at_site(tensor, index, int(sizeof...(T)), list, &tensor.site);
}
template <class... T>
dt_tensor *dt_set_at(dt::at<dt_tensor *> tensor, dt_tensor *value, const char *index, T *...tensors) {
    dt_tensor *const list[] = {tensors..., nullptr};
    return dt_set_at_site(tensor, value, index, int(sizeof...(T)), list, &tensor.site);
}

/* dt_explain(ctx, "matmul", x, w) */
template <class... T> const char *dt_explain(dt::at<dt_ctx *> ctx, const char *call, T *...tensors) {
    dt_tensor *const list[] = {tensors...};
    return dt_explain_tensors(ctx, call, int(sizeof...(T)), list, &ctx.site);
}

#endif
