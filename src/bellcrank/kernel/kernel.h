/* The functions of the kernel that models call which are attached to it: a model and free memory come first. */

#define OF const Model *, real *
typedef struct Kernel {
    void (*structure_sizes)(int64_t *sizes);
    int (*run)(OF, Job *);
    int64_t (*work_room)(const Model *);
    int (*raise_wheels)(OF, Job *);
    int (*look_at_step)(OF, Job *);
    int64_t (*event_room)(OF, const Events *sizes);
    int (*close_loops)(OF, Job *, double *y, const int *may, int nudges, double *residual, int *reverse);
    void (*find_metric)(OF, Job *, const double *y, double *root_q, double *root_u);
    int (*find_branch)(OF, Job *);
    int (*rates_at)(OF, real t, const real *x, real *xdot, const void *bound);
    int (*rates_of_all)(OF, int64_t n, int32_t afresh, const real *t, const real *x, real *xdot, int32_t *near,
        const void *bound);
    int (*is_calm)(OF, int64_t n, const real *t, const real *x, real h, real push, int32_t squarings, real most,
        const void *bound);
    int (*is_calm_run)(OF, int64_t n, int64_t width, const real *rows, real h, real push, int32_t squarings, real most,
        const void *bound);
    void (*know_python)(void *const *functions);
    void *(*rates_called)(OF, void *self, void *const *given, intptr_t n);
    int (*steps_on)(OF, Job *, int64_t n);
    int64_t (*steps_of_all)(OF, Job *const *jobs, int64_t count, int64_t n);
    void (*set_of_all)(Job *const *jobs, int64_t count, int64_t each, const int64_t *places, const real *values);
} Kernel;
#undef OF
