/* Kernels that were compiled ahead of time, as callables of Python.

   kernels.h, which core/kernels/ahead.py writes, lists them. Each takes its arguments as numba passes them: one after
   the other, in words of 64 bits. An array is its owner and parent (both none here), number of items, bytes an item,
   address, shape and strides. The result lies in memory like a struct of C.

   A signature has a letter for each scalar, `<dimensions><letter>` for each array, and brackets around a tuple. An
   array that the kernel writes to has `&` before it. The letters are those of Python's struct: ? b h i I q Q f d.
   The letter n is no result. */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <structmember.h>

#include "runtime.h"

enum { WORDS = 256, ROOM = 1024, NO_VALUE = -2, LEVELS = 2 };

typedef int32_t (*Entry)(const int64_t *words, void *result);

typedef struct {
    const char *name, *takes, *gives;
    int quick; /* whether it keeps the GIL */
    Entry enter[LEVELS]; /* the first for every processor, the second, if there is one, for newer ones */
} Loop;

#include "kernels.h" /* static const Loop LOOPS[], which ends with a name of NULL */

/* Return how many of the levels of core/kernels/ahead.py this machine's processor supports: 0 when it is older than the
   first, for which known.py names the features. */
static int levels(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2"))
        return 0;
    if (LOOPS[0].enter[1] && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vnni"))
        return 2;
#endif
    return 1;
}

/* The letters */

static int type_of(char letter) {
    switch (letter) {
    case '?': return NPY_BOOL;
    case 'b': return NPY_INT8;
    case 'h': return NPY_INT16;
    case 'i': return NPY_INT32;
    case 'I': return NPY_UINT32;
    case 'q': return NPY_INT64;
    case 'Q': return NPY_UINT64;
    case 'f': return NPY_FLOAT32;
    case 'd': return NPY_FLOAT64;
    default: return NPY_NOTYPE;
    }
}

static int is_array(const char *signature) { return *signature >= '0' && *signature <= '9'; }

/* From Python to words. Each function returns how many words it wrote, or -1 when the value does not fit the signature.
   It may set an exception. */

static int put_scalar(char letter, PyObject *value, int64_t *word) {
    double number;
    switch (letter) {
    case '?':
        if (!PyBool_Check(value) && !PyArray_IsScalar(value, Bool))
            return -1;
        *word = PyObject_IsTrue(value);
        return 1;
    case 'q':
    case 'Q':
        if (PyLong_CheckExact(value)) {
            *word = letter == 'q' ? PyLong_AsLongLong(value) : (int64_t)PyLong_AsUnsignedLongLong(value);
        } else {
            PyObject *whole = PyArray_IsScalar(value, Integer) ? PyNumber_Index(value) : NULL;
            if (whole == NULL)
                return -1;
            *word = letter == 'q' ? PyLong_AsLongLong(whole) : (int64_t)PyLong_AsUnsignedLongLong(whole);
            Py_DECREF(whole);
        }
        return *word == -1 && PyErr_Occurred() ? -1 : 1;
    case 'd':
        if (!PyFloat_Check(value) && !PyLong_CheckExact(value) && !PyArray_IsScalar(value, Number))
            return -1;
        number = PyFloat_AsDouble(value);
        if (number == -1.0 && PyErr_Occurred())
            return -1;
        memcpy(word, &number, sizeof number);
        return 1;
    default:
        return -1;
    }
}

static int put_array(const char *signature, int flags, PyObject *value, int64_t *word) {
    if (!PyArray_Check(value))
        return -1;
    PyArrayObject *array = (PyArrayObject *)value;
    int dimensions = signature[0] - '0';
    if (PyArray_NDIM(array) != dimensions || !PyArray_EquivTypenums(PyArray_TYPE(array), type_of(signature[1])) ||
        !PyArray_CHKFLAGS(array, flags) || !PyArray_ISNOTSWAPPED(array))
        return -1;
    *word++ = 0;
    *word++ = 0;
    *word++ = PyArray_SIZE(array);
    *word++ = PyArray_ITEMSIZE(array);
    *word++ = (int64_t)(intptr_t)PyArray_DATA(array);
    for (int d = 0; d < dimensions; d++)
        *word++ = PyArray_DIM(array, d);
    for (int d = 0; d < dimensions; d++)
        *word++ = PyArray_STRIDE(array, d);
    return 5 + 2 * dimensions;
}

/* Write a value of any kind, and move `*signature` past its letters. */
static int put(const char **signature, PyObject *value, int64_t *words) {
    int written = **signature == '&';
    *signature += written;
    if (is_array(*signature)) {
        int used = put_array(*signature, written ? NPY_ARRAY_CARRAY : NPY_ARRAY_CARRAY_RO, value, words);
        *signature += 2;
        return used;
    }
    if (**signature != '(')
        return put_scalar(*(*signature)++, value, words);
    if (!PyTuple_CheckExact(value))
        return -1;
    int used = 0;
    Py_ssize_t at = 0;
    for (++*signature; **signature != ')'; at++) {
        int more = at < PyTuple_GET_SIZE(value) ? put(signature, PyTuple_GET_ITEM(value, at), words + used) : -1;
        if (more < 0)
            return -1;
        used += more;
    }
    ++*signature;
    return at == PyTuple_GET_SIZE(value) ? used : -1;
}

/* Write all arguments; return whether the signature takes them. */
static int put_all(const char *signature, PyObject *const *arguments, Py_ssize_t count, int64_t *words) {
    int used = 0;
    for (Py_ssize_t at = 0; at < count; at++) {
        int more = *signature ? put(&signature, arguments[at], words + used) : -1;
        if (more < 0)
            return 0;
        used += more;
    }
    return *signature == 0;
}

static void release(PyObject *capsule) { NRT_MemInfo_call_dtor(PyCapsule_GetPointer(capsule, NULL)); }

/* From memory to Python. On an error the rest leaks, which is acceptable since it means that Python has no memory. */

static PyObject *take_array(const char *signature, const char *memory) {
    const int64_t *word = (const int64_t *)memory;
    int dimensions = signature[0] - '0';
    PyObject *array = PyArray_New(&PyArray_Type, dimensions, (npy_intp *)(word + 5), type_of(signature[1]),
                                  (npy_intp *)(word + 5 + dimensions), (void *)(intptr_t)word[4], 0, NPY_ARRAY_CARRAY, NULL);
    PyObject *owner = array == NULL ? NULL : PyCapsule_New((void *)(intptr_t)word[0], NULL, release);
    if (owner == NULL || PyArray_SetBaseObject((PyArrayObject *)array, owner) < 0)
        Py_CLEAR(array);
    return array;
}

static PyObject *take_scalar(char letter, const char *memory) {
    switch (letter) {
    case 'q': return PyLong_FromLongLong(*(const int64_t *)memory);
    case 'Q': return PyLong_FromUnsignedLongLong(*(const uint64_t *)memory);
    case 'd': return PyFloat_FromDouble(*(const double *)memory);
    case 'f': return PyFloat_FromDouble(*(const float *)memory);
    default: Py_RETURN_NONE;
    }
}

static PyObject *take_item(const char **signature, const char **memory) {
    int array = is_array(*signature);
    PyObject *value = array ? take_array(*signature, *memory) : take_scalar(**signature, *memory);
    *memory += array ? 8 * (5 + 2 * (**signature - '0')) : 8;
    *signature += array ? 2 : 1;
    return value;
}

static PyObject *take(const char *signature, const char *memory) {
    if (*signature != '(')
        return take_item(&signature, &memory);
    Py_ssize_t size = 0;
    for (const char *s = ++signature; *s != ')'; s += is_array(s) ? 2 : 1)
        size++;
    PyObject *values = PyTuple_New(size);
    for (Py_ssize_t at = 0; values != NULL && at < size; at++) {
        PyObject *item = take_item(&signature, &memory);
        if (item == NULL)
            Py_CLEAR(values);
        else
            PyTuple_SET_ITEM(values, at, item);
    }
    return values;
}

/* The callable */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    const Loop *loop; /* the first of its name */
    int level;
} Kernel;

static int same(const Loop *one, const Loop *other) {
    return one->name != NULL && strcmp(one->name, other->name) == 0;
}

static PyObject *call(PyObject *self, PyObject *const *arguments, size_t flags, PyObject *names) {
    const Loop *first = ((Kernel *)self)->loop;
    int level = ((Kernel *)self)->level;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    int64_t words[WORDS];
    int64_t result[ROOM / 8];
    if (names != NULL && PyTuple_GET_SIZE(names) > 0)
        return PyErr_Format(PyExc_TypeError, "%s takes no arguments by name", first->name);
    for (const Loop *loop = first; same(loop, first); loop++) {
        if (!put_all(loop->takes, arguments, count, words)) {
            if (PyErr_Occurred())
                return NULL;
            continue;
        }
        int32_t status;
        PyThreadState *state = loop->quick ? NULL : PyEval_SaveThread();
        status = loop->enter[level](words, result);
        if (state != NULL)
            PyEval_RestoreThread(state);
        if (status != 0 && status != NO_VALUE)
            return PyErr_Format(PyExc_RuntimeError, "%s failed", first->name);
        return take(loop->gives, (const char *)result);
    }
    return PyErr_Format(PyExc_TypeError, "%s was not compiled for such arguments, but for %s", first->name, first->takes);
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Kernel, call), READONLY, NULL},
    {NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, members},
    {0, NULL},
};

static PyType_Spec specification = {
    .name = "muisti.core.kernels.native.Kernel",
    .basicsize = sizeof(Kernel),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "muisti.core.kernels.native", .m_size = -1};

static PyObject *of_level(PyTypeObject *type, int level) {
    PyObject *kernels = PyDict_New();
    for (const Loop *loop = LOOPS; kernels != NULL && loop->name != NULL; loop++) {
        if (loop != LOOPS && same(loop, loop - 1))
            continue;
        Kernel *kernel = PyObject_New(Kernel, type);
        if (kernel == NULL)
            return NULL;
        kernel->call = call;
        kernel->loop = loop;
        kernel->level = level;
        int failed = PyDict_SetItemString(kernels, loop->name, (PyObject *)kernel);
        Py_DECREF(kernel);
        if (failed)
            return NULL;
    }
    return kernels;
}

PyMODINIT_FUNC PyInit_native(void) {
    import_array();
    PyObject *module = PyModule_Create(&definition), *all = PyList_New(0), *type = PyType_FromSpec(&specification);
    if (module == NULL || all == NULL || type == NULL)
        return NULL;
    for (int level = 0; level < levels(); level++) {
        PyObject *kernels = of_level((PyTypeObject *)type, level);
        if (kernels == NULL || PyList_Append(all, kernels) < 0)
            return NULL;
        Py_DECREF(kernels);
    }
    return PyModule_AddObject(module, "levels", all) < 0 ? NULL : module;
}
