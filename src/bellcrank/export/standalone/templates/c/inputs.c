@TUNING@/* ---- inputs over time */

typedef struct {
    const char *keyword, *unit, *label;
    double factor;
    int kind; /* CONSTANT ... PIECES; -1 while none is given */
    double a[@MOST_NUMBERS@];
    char file[4096]; /* PIECES: where they came from */
    int straight;   /* PIECES: straight lines, known between their points only */
    int64_t n;
    double *x, *pieces;
} Signal;

static const struct {
    const char *word;
    int kind, numbers;
    int smooth; /* how often it can be differentiated */
} kinds[] = {
    @KINDS@
};

static const struct {
    int kind, number;
    const char *name;
} positive[] = {@POSITIVE@}; /* numbers that must be positive */

enum { N_SIGNALS = @N_SIGNALS@ };

static Signal signals[N_SIGNALS] = {
@SIGNALS@};

/* the inputs of the model: a signal, or its rate */
static const int input_signal[N_I] = {@INPUT_SIGNAL@}, input_rate[N_I] = {@INPUT_RATE@};

static FILE *open_named(const char *name, const char *from, char *path, size_t size);

static void *more_room(void *memory, int64_t n)
{
    memory = realloc(memory, (size_t)n*sizeof(double));
    if (memory == NULL) {
        problem(NULL, 0, "there is no room for the points of an input");
        exit(INPUT_ERROR);
    }
    return memory;
}

/* Points of an input: lines of time and value, or of time and the four coefficients of a cubic piece. */
static void read_points(Signal *s, const char *name, const char *from, long from_line)
{
    char text[4096], path[4096];
    FILE *file = open_named(name, from, path, sizeof path);
    int columns = 0, bad = 0;
    if (file == NULL) {
        problem(from, from_line, "cannot read %s", name);
        return;
    }
    s->kind = PIECES;
    s->n = 0;
    snprintf(s->file, sizeof s->file, "%s", path);
    for (long line = 1; !bad && fgets(text, sizeof text, file) != NULL; line++) {
        double row[5];
        int found = 0;
        char *rest = stripped(text), *word;
        if (*rest == '\0' || *rest == '*')
            continue;
        for (char *c = rest; *c != '\0'; c++)
            *c = (char)(*c == ',' ? ' ' : *c);
        while (*(word = next_word(&rest)) != '\0' && !bad) {
            bad = found == 5 || !read_number(word, &row[found]);
            found++;
        }
        columns = columns == 0 ? found : columns;
        bad = bad || found != columns || (columns != 2 && columns != 5) || (s->n > 0 && row[0] <= s->x[s->n - 1]);
        if (bad) {
            problem(path, line,
                "expected a time later than the one before and a value, or a time and four coefficients");
            break;
        }
        s->x = more_room(s->x, s->n + 1);
        s->pieces = more_room(s->pieces, 4*(s->n + 1));
        s->x[s->n] = row[0];
        for (int k = 0; k < 4; k++)
            s->pieces[4*s->n + k] = k + 1 < columns ? row[k + 1] : 0.0;
        s->n++;
    }
    fclose(file);
    if (!bad && s->n < 2)
        problem(path, 0, "an input needs at least two points");
    s->straight = columns == 2;
    for (int64_t i = 0; i + 1 < s->n && s->straight; i++)
        s->pieces[4*i + 1] = (s->pieces[4*(i + 1)] - s->pieces[4*i])/(s->x[i + 1] - s->x[i]);
}

/* A number, or a kind of signal with its numbers, or a file; nonzero if the keyword is an input. */
static int read_input(const char *keyword, char *rest, const char *path, long line)
{
    for (int i = 0; i < N_SIGNALS; i++) {
        Signal *s = &signals[i];
        if (!same(s->keyword, keyword))
            continue;
        const char *word = next_word(&rest);
        if (read_number(word, &s->a[0])) {
            s->kind = CONSTANT;
            return 1;
        }
        if (same(word, "file")) {
            word = next_word(&rest);
            if (*word == '\0')
                problem(path, line, "%s needs the name of a file", keyword);
            else
                read_points(s, word, path, line);
            return 1;
        }
        for (size_t k = 0; k < sizeof kinds/sizeof kinds[0]; k++)
            if (same(word, kinds[k].word)) {
                for (int j = 0; j < kinds[k].numbers; j++)
                    if (!read_number(next_word(&rest), &s->a[j])) {
                        problem(path, line, "%s: %s needs %d numbers", keyword, word, kinds[k].numbers);
                        return 1;
                    }
                for (size_t j = 0; j < sizeof positive/sizeof positive[0]; j++)
                    if (positive[j].kind == kinds[k].kind && !(s->a[positive[j].number] > 0.0))
                        problem(path, line, "%s: the %s of a %s must be positive", keyword, positive[j].name,
                            kinds[k].word);
                s->kind = kinds[k].kind;
                return 1;
            }
        problem(path, line, "%s needs a number, @KIND_LIST@ or file, found '%s'", keyword, word);
        return 1;
    }
    return 0;
}

static void echo_inputs(FILE *file)
{
    fprintf(file, "\n* inputs\n");
    for (int i = 0; i < N_SIGNALS; i++) {
        const Signal *s = &signals[i];
        fprintf(file, "%-15s ", s->keyword);
        if (s->kind == PIECES)
            fprintf(file, "file %s", s->file);
        for (size_t k = 0; k < sizeof kinds/sizeof kinds[0]; k++)
            if (kinds[k].kind == s->kind) {
                fprintf(file, "%s", kinds[k].word);
                for (int j = 0; j < kinds[k].numbers; j++)
                    fprintf(file, " %s", number(s->a[j]));
            }
        fprintf(file, "   %s  %s\n", s->unit, s->label);
    }
}

/* Every input as the model takes it; what is missing or too short is told. */
static void prepare_inputs(Input *inputs)
{
    for (int i = 0; i < N_SIGNALS; i++) {
        const Signal *s = &signals[i];
        if (s->kind < 0)
            problem(settings.input, 0, "no input is given for %s", s->keyword);
        else if (s->kind == PIECES && s->straight && s->n > 1
                 && (s->x[0] > 0.0 || s->x[s->n - 1] < settings.t_end*(1.0 - KNOWN)))
            problem(s->file, 0, "%s is known for t = %g to %g s, but the run goes from 0 to %g s", s->keyword, s->x[0],
                    s->x[s->n - 1], settings.t_end);
    }
    for (int i = 0; i < N_I; i++) {
        const Signal *s = &signals[input_signal[i]];
        inputs[i].kind = s->kind;
        inputs[i].rate = input_rate[i];
        inputs[i].scale = s->factor;
        memcpy(inputs[i].a, s->a, sizeof s->a);
        inputs[i].n = s->n;
        inputs[i].x = s->x;
        inputs[i].pieces = s->pieces;
        for (size_t k = 0; k < sizeof kinds/sizeof kinds[0]; k++)
            if (kinds[k].kind == s->kind && input_rate[i] > kinds[k].smooth)
                problem(settings.input, 0, "%s must be differentiable%s: a %s is not", s->keyword,
                        input_rate[i] == 2 ? " twice" : "", kinds[k].word);
        if (input_rate[i] == 2 && s->kind == PIECES && s->straight)
            problem(settings.input, 0, "%s must be differentiable twice: straight lines are not", s->keyword);
    }
}

static int earlier(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times at which a signal of a kind is not smooth, and how many there are. */
static int signal_breaks(int kind, const double *a, double *at)
{
    switch (kind) {
@BREAKS@    default:
        return 0;
    }
}

/* Times in order at which inputs jump or have a kink: steps are split there. An input with more of them than there
   are steps is taken as smooth. */
static double *find_breaks(int64_t steps, int64_t *count)
{
    double *breaks = more_room(NULL, 1);
    *count = 0;
    for (int i = 0; i < N_SIGNALS; i++) {
        const Signal *s = &signals[i];
        const int64_t before = *count;
        double steepest = 0.0, at[6];
        const int n = signal_breaks(s->kind, s->a, at);
        for (int64_t k = 0; k + 1 < s->n; k++)
            steepest = fmax(steepest, fabs(s->pieces[4*k + 1]));
        breaks = more_room(breaks, *count + s->n + n + 1);
        for (int k = 0; k < n; k++)
            if (at[k] > 0.0 && at[k] <= settings.t_end)
                breaks[(*count)++] = at[k];
        for (int64_t k = 1; k + 1 < s->n && s->kind == PIECES && s->straight; k++)
            if (fabs(s->pieces[4*k + 1] - s->pieces[4*(k - 1) + 1]) > KINK*steepest && s->x[k] > 0.0
                && s->x[k] <= settings.t_end)
                breaks[(*count)++] = s->x[k];
        if (*count - before > steps)
            *count = before;
    }
    qsort(breaks, (size_t)*count, sizeof *breaks, earlier);
    return breaks;
}

