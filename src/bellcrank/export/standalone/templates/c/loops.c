@ASSEMBLY@
/* The initial state with its loops closed. */
static void assemble(Job *job, double *y)
{
    int given[N_S];
    double found[N_S + 1];
    for (int j = 0; j < N_S; j++)
        given[j] = states[j].given;
    const Assembly assembly = find_assembly(job, y, given, found);
    if (assembly.open >= 0 && assembly.reverse)
        problem(settings.input, 0, CLOSES_REVERSED, rows_of_loops[assembly.open]);
    else if (assembly.open >= 0)
        problem(settings.input, 0, CANNOT_CLOSE, rows_of_loops[assembly.open], assembly.residual);
    stop_if_problems();
    for (int j = 0; j < N_S; j++)
        if (given[j] && fabs(found[j] - y[j]) > TOLD)
            printf("note: the initial value of %s contradicts the constraints; %.6g is used instead of %.6g\n",
                   states[j].keyword, found[j]/states[j].factor, y[j]/states[j].factor);
    memcpy(y, found, N_S*sizeof *y);
}

/* Speeds of the start that had to change, as a singular position has few directions of motion. */
static void tell_branch(const Job *job, const double *given)
{
    const double *start = job->rows + 1;
    for (int j = N_Q; j < N_S && job->filled > 0; j++)
        if (fabs(start[j] - given[j]) > @OFF_BRANCH@)
            printf("\nnote: the start is singular, and its speeds lie off the branch that they are nearest to: %.6g is "
                   "used instead of %.6g for %s", start[j]/states[j].factor, given[j]/states[j].factor,
                   states[j].keyword);
}

