
/* ---- rates as a function of CPython, without the way through ctypes. No header of it is needed: its stable interface
   is repeated here, and functions of it that are called are handed over when the program is loaded */

typedef struct {
    void *buf, *obj;
    intptr_t len, itemsize;
    int readonly, ndim;
    char *format;
    intptr_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;

static struct {
    void *(*PyBool_FromLong)(long);
    char *(*PyBytes_AsString)(void *);
    void *(*PyErr_Occurred)(void);
    double (*PyFloat_AsDouble)(void *);
    void (*PyBuffer_Release)(Py_buffer *);
    int (*PyObject_GetBuffer)(void *, Py_buffer *, int);
} python;

EXPORT void know_python(void *const *functions)
{
    memcpy(&python, functions, sizeof python);
}

static int is_state(GIVEN const Py_buffer *given)
{
    return given->ndim == 1 && given->shape[0] == N_S && !strcmp(given->format, "d");
}

/* rates(t, x, xdot): was it done? If not, arguments are others, or the rates cannot be found; or it raises an error of
   Python. `self` is a piece of bytes, which begins with the address of what is bound. */
EXPORT void *rates_called(GIVEN void *self, void *const *given, intptr_t n)
{
    enum { CONTIGUOUS_WITH_FORMAT = 0x4 | 0x8, WRITABLE = 0x1 };
    const void *bound;
    Py_buffer x, xdot;
    ARRAY(real, from, N_S + 1);
    ARRAY(real, to, N_S + 1);
    int done = 0;
    if (n != 3)
        return python.PyBool_FromLong(0);
    memcpy(&bound, python.PyBytes_AsString(self), sizeof bound);
    const double t = python.PyFloat_AsDouble(given[0]);
    if (t == -1 && python.PyErr_Occurred())
        return NULL;
    if (python.PyObject_GetBuffer(given[1], &x, CONTIGUOUS_WITH_FORMAT))
        return NULL;
    const int known = is_state(HERE &x);
    if (known)
        memcpy(from, x.buf, N_S*sizeof *from);
    python.PyBuffer_Release(&x);
    if (!known)
        return python.PyBool_FromLong(0);
    if (python.PyObject_GetBuffer(given[2], &xdot, CONTIGUOUS_WITH_FORMAT | WRITABLE))
        return NULL;
    if (is_state(HERE &xdot) && !rates_bound(HERE bound, 1, t, from, to, NULL)) {
        memcpy(xdot.buf, to, N_S*sizeof *to);
        done = 1;
    }
    python.PyBuffer_Release(&xdot);
    return python.PyBool_FromLong(done);
}
