/* A whole run with memory of its own: the state at its end; returns the status. */
static int whole_run(Events *events, int method, double h, double t_end, double rtol, double *state)
{
    real work[20000] = {0.0}, rows[100*(1 + N_S + N_OUT)];
    real k[N_S], old[N_S], bad[N_S], kept[1] = {0.0}, largest[N_S] = {0.0}, atol[N_S], caps[N_S], none[1] = {0.0};
    const int64_t total = (int64_t)(t_end/h + 0.5);
    const real times[2] = {0.0, t_end}, ends[1] = {t_end};
    int64_t groups[N_S];
    Externals externals = {NULL, NULL, 0, 0};
    Job job;
    memset(&job, 0, sizeof job);
    for (int j = 0; j < N_S; j++) {
        atol[j] = 0.01*rtol;
        caps[j] = HUGE_VAL;
        groups[j] = j < N_Q ? 0 : 1;
    }
    job.method = method;
    job.last = job.total = method < N_FIXED ? total : 1;
    job.every = job.total;
    job.h = method < N_FIXED ? h : t_end;
    job.p = job.c = none;
    job.externals = &externals;
    job.y = state;
    job.k = k;
    job.old = old;
    job.bad = bad;
    job.kept = kept;
    job.rows = rows;
    job.times = times;
    job.rtol = rtol;
    job.atol = atol;
    job.caps = caps;
    job.groups = groups;
    job.largest = largest;
    job.work = work;
    job.pause = job.most = 1000000;
    job.events = events;
    job.most_rows = 100;
#if HAS_ADAPTIVE
    if (work_room() > (int64_t)(sizeof work/sizeof *work))
        return -1;
    memset(work, 0, sizeof work);
    if (method >= N_FIXED) {
        job.breaks = ends;
        job.n_breaks = 1;
    }
#else
    (void)ends;
#endif
#if HAS_LOOPS
    real root_q[N_Q], root_u[N_U], past[3*(1 + N_U)] = {0.0}, passages[6*10];
    for (int j = 0; j < N_Q; j++)
        root_q[j] = 1.0;
    for (int j = 0; j < N_U; j++)
        root_u[j] = 1.0;
    job.root_q = root_q;
    job.root_u = root_u;
    job.past = past;
    job.visit[1] = 1.0;
    job.passages = passages;
    job.most_passages = 10;
#endif
#if HAS_DAE
    real frozen[2*N_V + 1] = {0.0};
    job.frozen = frozen;
    job.dae = PROJECTION;
#endif
    return run(&job);
}

EXPORT int end_of_run(int method, double h, double t_end, double rtol, double *state)
{
    return whole_run(NULL, method, h, t_end, rtol, state);
}

#if HAS_LOOKS
/* The same with an event: where the first coordinate comes down through zero, a share of its speed is left, with the
   other sign. Up to ten times at which that was; returns how many there were, or minus the status. */
EXPORT int events_of_run(int method, double h, double t_end, double rtol, double share, double *state, double *when)
{
    enum { COLUMN = 0, VALUE = 1, TIMES = 5 };
    const FormulaStep steps[] = {
        {COLUMN, 1, 0, 0, 1.0}, {COLUMN, 1 + N_Q, 0, 0, 1.0}, {VALUE, 0, 0, 0, 1.0}, {TIMES, 0, 1, 0, 1.0}
    };
    const Watched watched[] = {{0, 1, 0, 1, 0, 0, 1, 0}};
    const Setting settings[] = {{0, N_Q, -1, 1, 4, 1.0}};
    double values[] = {-share}, times[200] = {0.0};
    static double room[100000];
    AtZero at_zero[1];
    Counted counted[1];
    Happening happenings[40];
    double changes[40*(2*N_S + 2)];
    Events e;
    memset(&e, 0, sizeof e);
    memset(at_zero, 0, sizeof at_zero);
    memset(counted, 0, sizeof counted);
    counted[0].idle = counted[0].undefined = NAN;
    e.n_events = e.n_settings = e.n_values = 1;
    e.longest = 4;
    e.watched = watched;
    e.settings = settings;
    e.steps = steps;
    e.values = values;
    e.at_zero = at_zero;
    e.counted = counted;
    e.times = times;
    e.room = room;
    e.h = h;
    e.span = e.until = t_end;
    e.method = method;
    e.stopped = -1;
    e.happenings = happenings;
    e.changes = changes;
    e.most_happenings = 40;
    if (event_room(&e) > (int64_t)(sizeof room/sizeof *room))
        return -100;
    const int status = whole_run(&e, method, h, t_end, rtol, state);
    for (int i = 0; i < e.n_happenings && i < 10; i++)
        when[i] = happenings[i].time;
    return status || e.problem ? -status - 10*e.problem - 1 : (int)e.n_happenings;
}
#endif
