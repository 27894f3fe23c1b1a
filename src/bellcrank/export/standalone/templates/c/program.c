/* @TITLE@: a complete simulation program. Written by Bellcrank.

       @STEM@ [options] [PARSFILE]

   reads parameters, initial values and inputs from a parameter file (default: @STEM@.par), writes an echo of all of
   them that is itself a parameter file, runs, and writes every channel over time. `@STEM@ --help` lists the options.
   The equations of motion are in @EQUATIONS@. Files are in the units named there; equations use rad and consistent
   units; `factor` leads from the one to the other.
@ABOUT@*/

#include "@INCLUDED@"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

@TUNING@enum { FINE, INPUT_ERROR, USAGE, ENDED_EARLY = 4 }; /* exit codes */
enum { ERD, ERD_BINARY, ERD_CLASSIC, CSV };

typedef struct {
    const char *keyword, *unit, *label;
    double factor; /* one of the unit is so many equation units */
    double value;  /* in that unit */
    int given;
} Quantity;

typedef struct {
    const char *name, *shortname, *unit, *label, *generic, *body;
    double factor;
    int column; /* in the rows of a run: time, states, outputs, inputs */
} Channel;

static const char TITLE[] = @TITLE_STRING@;
static const char STEM[] = @STEM_STRING@;

enum { N_GIVEN = @N_GIVEN@, N_KEYS = N_GIVEN + @N_OWN@, N_CHANNELS = @N_CHANNELS@ };

/* those of the model, then those that stand in events alone */
static Quantity parameters[N_KEYS + 1] = {
@PARAMETERS@};

static Quantity states[N_S + 1] = {
@STATES@};

/* speeds that constraints determine: they cannot be given */
static const char *const removed[] = {@REMOVED@NULL};

static const Channel channels[N_CHANNELS + 1] = {
@CHANNELS@};

static struct {
    double t_end, step;
    long every;
    int method, format;
    const char *input, *echo, *output;
    char title[512];
    double rtol; /* of methods that choose their steps */
} settings = {@T_END@, @STEP@, @EVERY@, @METHOD@, ERD, NULL, NULL, NULL, @TITLE_STRING@, @RTOL@};

/* absolute tolerances in the units of the states, as they are told: of all, of a unit, of a state; else 0 */
static double absolute_of[3][N_S + 1];
enum { OF_ALL, OF_UNIT, OF_STATE };

static const char *const methods[] = {@METHOD_NAMES@}; /* "": not for this model */
enum { N_METHODS = sizeof methods/sizeof methods[0] };
@IF ADAPTIVE@
enum { AUTO = N_METHODS - 1 };
@END@

/* ---- what goes wrong is collected and told before anything runs */

static int problems;

static void problem(const char *path, long line, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: ", STEM);
    if (path != NULL)
        fprintf(stderr, line > 0 ? "%s, line %ld: " : "%s: ", path, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    problems++;
}

static void stop_if_problems(void)
{
    if (problems > 0)
        exit(INPUT_ERROR);
}

/* ---- result files: written beside their place, and moved there when they are whole */

typedef struct Result {
    FILE *file;
    char path[4096], part[4104];
} Result;

static Result open_result(const char *path, const char *ending, const char *mode)
{
    Result result = {0};
    const int length = snprintf(result.path, sizeof result.path, "%s%s", path, ending);
    const int device = strncmp(path, "/dev/", 5) == 0;
    snprintf(result.part, sizeof result.part, "%s%s", result.path, device ? "" : ".part");
    result.file = length < (int)sizeof result.path ? fopen(result.part, mode) : NULL;
    if (result.file == NULL)
        problem(result.path, 0, "this file cannot be written");
    return result;
}

static void close_result(Result *result)
{
    const int failed = ferror(result->file);
    if (fclose(result->file) || failed)
        problem(result->path, 0, "this file cannot be written");
}

/* Moves a file to its place, or removes it if something went wrong. Some systems do not move onto what is there. */
static void put_result(Result *result)
{
    if (strcmp(result->part, result->path) == 0)
        return;
    if (problems > 0)
        remove(result->part);
    else if (rename(result->part, result->path) && (remove(result->path) || rename(result->part, result->path)))
        problem(result->path, 0, "this file cannot be written");
}

/* ---- small things about text */

static int same(const char *a, const char *b) /* capitals and blanks do not matter */
{
    for (;; a++, b++) {
        while (*a == ' ')
            a++;
        while (*b == ' ')
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return 0;
        if (*a == '\0')
            return 1;
    }
}

static char *stripped(char *text)
{
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* The next word of a text, which then begins after it; "" if there is none. */
static char *next_word(char **text)
{
    char *word = *text;
    while (isspace((unsigned char)*word))
        word++;
    char *end = word;
    while (*end != '\0' && !isspace((unsigned char)*end))
        end++;
    *text = end + (*end != '\0');
    *end = '\0';
    return word;
}

/* A finite number as C and Fortran write it: 1.5, 2E-3, 1D0. */
static int read_number(const char *word, double *value)
{
    char copy[64], *end;
    size_t n = strlen(word);
    if (n == 0 || n >= sizeof copy || strspn(word, "0123456789+-.eEdD") < n)
        return 0;
    for (size_t i = 0; i <= n; i++)
        copy[i] = (char)(word[i] == 'd' || word[i] == 'D' ? 'e' : word[i]);
    *value = strtod(copy, &end);
    return *end == '\0' && isfinite(*value);
}

/* The shortest text that is read back as the same number. */
static const char *number(double x)
{
    static char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (!isfinite(x) || (strtod(text, NULL) <= x && strtod(text, NULL) >= x))
            break;
    }
    return text;
}

/* A number as Fortran's G13.6 prints it, for the layout of 1990. */
static const char *number_g(double x)
{
    static char text[80];
    char e[40];
    snprintf(e, sizeof e, "%.5e", fabs(x));
    const int exponent = (int)strtol(strchr(e, 'e') + 1, NULL, 10) + 1;
    if (!(fabs(x) > 0.0) || (exponent >= 0 && exponent <= 6)) {
        const int before = fabs(x) > 0.0 ? exponent : 1;
        snprintf(e, sizeof e, "%#.*f", 6 - before, x);
        snprintf(text, sizeof text, "%9s    ", e);
    } else {
        e[1] = e[0];
        e[0] = '.';
        *strchr(e, 'e') = '\0';
        snprintf(text, sizeof text, "%s0%sE%+03d", x < 0.0 ? "-" : " ", e, exponent);
    }
    return text;
}

@INPUTS@/* ---- the parameter file */

static Quantity *find(Quantity *list, int n, const char *keyword)
{
    for (int i = 0; i < n; i++)
        if (same(list[i].keyword, keyword))
            return &list[i];
    return NULL;
}

/* A state by its keyword, or by its number: Q(1), U(2). */
static Quantity *find_state(const char *keyword)
{
    Quantity *found = find(states, N_S, keyword);
    const int letter = tolower((unsigned char)keyword[0]);
    if (found == NULL && (letter == 'q' || letter == 'u') && keyword[1] == '(') {
        char *end;
        const long i = strtol(keyword + 2, &end, 10);
        if (end > keyword + 2 && strcmp(end, ")") == 0 && i >= 1 && i <= (letter == 'q' ? N_Q : N_U))
            found = &states[(letter == 'q' ? 0 : N_Q) + i - 1];
    }
    return found;
}

static void read_value(Quantity *quantity, const char *word, const char *path, long line)
{
    double value;
    if (read_number(word, &value)) {
        quantity->value = value;
        quantity->given = 1;
    } else
        problem(path, line, "%s needs a number, found '%s'", quantity->keyword, word);
}

/* An absolute tolerance: ATOL of all states, ATOL(m) of those with a unit, ATOL(Q(1)) of one. */
static void set_absolute(const char *keyword, double value, const char *path, long line)
{
    char inner[256] = "";
    const size_t length = strlen(keyword);
    int known = 0;
    if (length > 6 && length < sizeof inner) {
        memcpy(inner, keyword + 5, length - 6);
        inner[length - 6] = '\0';
    }
    const Quantity *state = find_state(inner);
    for (int i = 0; i < N_S; i++) {
        const int whose = length == 4 ? OF_ALL : &states[i] == state ? OF_STATE : OF_UNIT;
        if (length == 4 || &states[i] == state || (state == NULL && same(states[i].unit, inner))) {
            absolute_of[whose][i] = value;
            known = 1;
        }
    }
    if (!known && N_S > 0)
        problem(path, line, "%s: no state is called '%s', and none has such a unit", keyword, inner);
}

/* Settings of the run; nonzero if the keyword is one of them. */
static int read_setting(const char *keyword, const char *word, const char *path, long line)
{
    double value;
    if (same(keyword, "method")) {
        for (int i = 0; i < N_METHODS; i++)
            if (methods[i][0] && same(word, methods[i])) {
                settings.method = i;
                return 1;
            }
        problem(path, line, "the method is @METHOD_LIST@, found '%s'", word);
        return 1;
    }
    const size_t length = strlen(keyword);
    const int absolute = same(keyword, "atol") || (length > 6 && keyword[4] == '(' && keyword[length - 1] == ')'
        && tolower((unsigned char)keyword[0]) == 'a' && tolower((unsigned char)keyword[1]) == 't'
        && tolower((unsigned char)keyword[2]) == 'o' && tolower((unsigned char)keyword[3]) == 'l');
    if (!absolute && !same(keyword, "stopt") && !same(keyword, "step") && !same(keyword, "iprint")
        && !same(keyword, "rtol"))
        return 0;
    if (!read_number(word, &value) || !(value > 0.0))
        problem(path, line, "%s needs a positive number, found '%s'", keyword, word);
    else if (same(keyword, "stopt"))
        settings.t_end = value;
    else if (same(keyword, "step"))
        settings.step = value;
    else if (absolute)
        set_absolute(keyword, value, path, line);
@IF ADAPTIVE@
    else if (same(keyword, "rtol") && value < FINEST)
        problem(path, line, "%s %g is below %g, which double precision cannot keep", keyword, value, FINEST);
@END@
    else if (same(keyword, "rtol"))
        settings.rtol = value;
    else if (value < 1.0 || value > 1e9 || floor(value) < value)
        problem(path, line, "%s needs a whole number of at least 1, found '%s'", keyword, word);
    else
        settings.every = (long)value;
    return 1;
}

static void read_entry(const char *keyword, char *rest, const char *path, long line)
{
    Quantity *found = find(parameters, N_KEYS, keyword);
    if (found == NULL)
        found = find_state(keyword);
    if (found != NULL) {
        read_value(found, next_word(&rest), path, line);
        return;
    }
@IF INPUTS@
    if (read_input(keyword, rest, path, line))
        return;
@END@
    for (int i = 0; removed[i] != NULL; i++)
        if (same(removed[i], keyword)) {
            problem(path, line, "%s follows from a constraint and cannot be given", keyword);
            return;
        }
    if (!read_setting(keyword, next_word(&rest), path, line))
        problem(path, line, "no keyword is called '%s'; %s.par has all of them", keyword, STEM);
}

/* The keyword of a line, which may hold blanks within parentheses; `rest` is what follows it. */
static void split_keyword(char *content, char *keyword, size_t size, char **rest)
{
    char *end = content + strcspn(content, " \t"), *open = strchr(content, '('), *close = strchr(content, ')');
    if (open != NULL && open < end && close != NULL && close >= end)
        end = close + 1;
    size_t n = 0;
    for (char *c = content; c < end && n + 1 < size; c++)
        if (!isspace((unsigned char)*c))
            keyword[n++] = *c;
    keyword[n] = '\0';
    *rest = stripped(end);
}

/* Opens a file named in another one: beside it, or else where the program runs. */
static FILE *open_named(const char *name, const char *from, char *path, size_t size)
{
    const char *slash = from == NULL ? NULL : strrchr(from, '/');
    const int beside = slash == NULL || name[0] == '/' ? 0 : (int)(slash - from + 1);
    snprintf(path, size, "%.*s%s", beside, from == NULL ? "" : from, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        snprintf(path, size, "%s", name);
        file = fopen(path, "r");
    }
    return file;
}

/* Reads a parameter file, and those it names in their places. */
static void read_parsfile(const char *name, const char *from, long from_line, int depth)
{
    char text[4096], keyword[256], path[4096], *rest;
    FILE *file = open_named(name, from, path, sizeof path);
    if (file == NULL) {
        problem(from, from_line, "cannot read %s", name);
        return;
    }
    if (depth >= 20)
        problem(path, 0, "parameter files name each other more than 20 deep");
    int begun = 0;
    for (long line = 1; depth < 20 && fgets(text, sizeof text, file) != NULL; line++) {
        char *content = stripped(text);
        if (strlen(text) + 1 == sizeof text && !feof(file)) {
            problem(path, line, "the line is longer than %d characters", (int)sizeof text - 2);
            break;
        }
        if (line == 1 && strncmp(content, "\xEF\xBB\xBF", 3) == 0)
            content += 3; /* the mark some editors put before UTF-8 */
        if (*content == '\0' || *content == '*')
            continue;
        split_keyword(content, keyword, sizeof keyword, &rest);
        if (!begun) {
            if (!same(keyword, "parsfile") || *rest != '\0') {
                problem(path, line, "a parameter file begins with the line PARSFILE");
                break;
            }
            begun = 1;
        } else if (same(keyword, "end")) {
            break;
        } else if (same(keyword, "title")) {
            snprintf(settings.title, sizeof settings.title, "%s", rest);
        } else if (same(keyword, "parsfile")) {
            if (*rest == '\0')
                problem(path, line, "PARSFILE needs the name of a file");
            else
                read_parsfile(rest, path, line, depth + 1);
        } else
            read_entry(keyword, rest, path, line);
    }
    if (!begun && problems == 0)
        problem(path, 0, "a parameter file begins with the line PARSFILE; this one is empty");
    fclose(file);
}

/* ---- the echo file: a parameter file with everything as it was used */

static void echo_line(FILE *file, const char *keyword, double value, const char *unit, const char *label)
{
    if (settings.format == ERD_CLASSIC)
        fprintf(file, "%-8s%13s  %s (%s)\n", keyword, number_g(value), label, unit);
    else
        fprintf(file, "%-15s %-24s %s  %s\n", keyword, number(value), unit, label);
}

@IF ECHO_ROUTINES@
static void write_echo(Job *job, const double *y)
@ELSE@
static void write_echo(const double *y)
@END@
{
    Result result = open_result(settings.echo, "", "w");
    FILE *file = result.file;
    if (file == NULL)
        return;
    char when[64] = "";
    const time_t now = time(NULL);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime(&now));
    fprintf(file, "PARSFILE\n* Echo file of %s\n* Input file: %s\n* Run was made %s\n", TITLE, settings.input, when);
    fprintf(file, "TITLE %s\n\n* run\n", settings.title);
    echo_line(file, "STOPT", settings.t_end, "s", "end of the run");
    echo_line(file, "STEP", settings.step, "s", "time step");
    echo_line(file, "IPRINT", (double)settings.every, "-", "steps from one output to the next");
    fprintf(file, "%-15s %s\n", "METHOD", methods[settings.method]);
    if (settings.method >= N_FIXED) {
        echo_line(file, "RTOL", settings.rtol, "-", "error of a step against each state");
        if (N_S > 0 && absolute_of[OF_ALL][0] > 0.0)
            echo_line(file, "ATOL", absolute_of[OF_ALL][0], "-", "and besides, in the unit of each");
        for (int i = 0; i < N_S; i++)
            for (int whose = OF_UNIT; whose <= OF_STATE; whose++)
                if (absolute_of[whose][i] > 0.0) {
                    char keyword[300];
                    const char *name = whose == OF_UNIT ? states[i].unit : states[i].keyword;
                    snprintf(keyword, sizeof keyword, "ATOL(%s)", name);
                    echo_line(file, keyword, absolute_of[whose][i], states[i].unit, "and besides");
                }
    }
    fprintf(file, "\n* parameters\n");
    for (int i = 0; i < N_KEYS; i++)
        echo_line(file, parameters[i].keyword, parameters[i].value, parameters[i].unit, parameters[i].label);
@IF INPUTS@
    echo_inputs(file);
@END@
    fprintf(file, "\n* initial values\n");
    for (int i = 0; i < N_S; i++) {
        const Quantity *s = &states[i];
        const double told = s->value*s->factor;
        const double value = s->given && told <= y[i] && told >= y[i] ? s->value : y[i]/s->factor;
        echo_line(file, s->keyword, value, s->unit, s->label);
    }
@ECHO_ROUTINES@    fprintf(file, "END\n");
    close_result(&result);
    put_result(&result);
}

/* ---- the output file */

/* A field of some width; characters of UTF-8 stay whole. */
static void put_field(FILE *file, const char *text, int width)
{
    int count = 0;
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text & 0xC0) != 0x80 && ++count > width)
            return;
        fputc(*text, file);
    }
    fprintf(file, "%*s", width - count, "");
}

static void put_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void put_fields(FILE *file, const char *keyword, size_t member, int width, int with_time, const char *time_text)
{
    fprintf(file, "%-8s", keyword);
    if (with_time)
        put_field(file, time_text, width);
    for (int i = 0; i < N_CHANNELS; i++) {
        const char *text;
        memcpy(&text, (const char *)&channels[i] + member, sizeof text);
        put_field(file, text, width);
    }
    fputc('\n', file);
}

#define MEMBER(name) ((size_t)((const char *)&channels[0].name - (const char *)&channels[0]))

static void write_header(FILE *file, int64_t samples, double step)
{
    const int classic = settings.format == ERD_CLASSIC, n = N_CHANNELS + !classic;
    const char *const layout = "%6d,%6ld,%6ld,%6d,%6d,%s\n";
    const long count = (long)samples;
    fprintf(file, "ERDFILEV2.00\n");
    if (classic)
        fprintf(file, layout, n, count, count, 4*n, 1, number_g(step));
    else if (settings.format == ERD_BINARY)
        fprintf(file, layout, n, count, count, 8*n, 2, number(step));
    else
        fprintf(file, layout, n, count, -1L, 1, 5, number(step));
    fprintf(file, "TITLE %s\n", settings.title);
    put_fields(file, "SHORTNAM", MEMBER(shortname), 8, !classic, "t");
    put_fields(file, "LONGNAME", MEMBER(label), 32, !classic, "Time");
    put_fields(file, "UNITSNAM", MEMBER(unit), 8, !classic, "s");
    put_fields(file, "GENNAME", MEMBER(generic), 32, !classic, "Time");
    put_fields(file, "RIGIBODY", MEMBER(body), 32, !classic, "");
    fprintf(file, "XLABEL Time\nXUNITS sec\n");
    if (!classic)
        fprintf(file, "CHANNEL \"t\" \"s\" \"Time\" \"Time\" \"\"\n");
    for (int i = 0; i < N_CHANNELS && !classic; i++) {
        const Channel *c = &channels[i];
        const char *const texts[] = {c->name, c->unit, c->label, c->generic, c->body};
        fprintf(file, "CHANNEL");
        for (int k = 0; k < 5; k++) {
            fputc(' ', file);
            put_quoted(file, texts[k]);
        }
        fputc('\n', file);
    }
    fprintf(file, "HISTORY Input parameter file was %s\nHISTORY Data generated with %s\nEND\n", settings.input, TITLE);
}

static void write_text(FILE *file, const double *rows, int64_t samples, char separator)
{
    for (int64_t i = 0; i < samples; i++)
        for (int k = 0; k < 1 + N_CHANNELS; k++)
            fprintf(file, "%.17g%c", rows[i*(1 + N_CHANNELS) + k], k < N_CHANNELS ? separator : '\n');
}

static void write_csv_names(FILE *file)
{
    fprintf(file, "t");
    for (int i = 0; i < N_CHANNELS; i++) {
        fputc(',', file);
        put_quoted(file, channels[i].name);
    }
    fprintf(file, "\ns");
    for (int i = 0; i < N_CHANNELS; i++) {
        fputc(',', file);
        put_quoted(file, channels[i].unit);
    }
    fputc('\n', file);
}

/* Samples in a file of their own: 64 bit one after another, or 32 bit as records of Fortran. */
static Result write_binary(const double *rows, int64_t samples)
{
    Result beside = open_result(settings.output, settings.format == ERD_CLASSIC ? ".BIN" : ".bin", "wb");
    FILE *file = beside.file;
    if (file == NULL)
        return beside;
    for (int64_t i = 0; i < samples; i++) {
        const double *row = rows + i*(1 + N_CHANNELS);
        if (settings.format == ERD_BINARY) {
            fwrite(row, sizeof *row, 1 + N_CHANNELS, file);
            continue;
        }
        float values[N_CHANNELS + 1];
        const int32_t bytes = 4*N_CHANNELS;
        for (int k = 0; k < N_CHANNELS; k++)
            values[k] = (float)row[1 + k];
        fwrite(&bytes, sizeof bytes, 1, file);
        fwrite(values, sizeof values[0], N_CHANNELS, file);
        fwrite(&bytes, sizeof bytes, 1, file);
    }
    close_result(&beside);
    return beside;
}

/* Writes all channels in their units; the file was opened before the run. */
static void write_output(Result *output, double *rows, int64_t samples)
{
    FILE *file = output->file;
    Result beside = {0};
    const double step = settings.step*(double)settings.every;
    for (int64_t i = 0; i < samples; i++) {
        const double *from = rows + i*(1 + N_S + N_OUT + N_W);
        double *to = rows + i*(1 + N_CHANNELS); /* never behind what is still to be read */
        to[0] = from[0];
        for (int k = 0; k < N_CHANNELS; k++)
            to[1 + k] = from[channels[k].column]/channels[k].factor;
    }
    if (settings.format == ERD_CLASSIC && samples > 1
        && fabs(rows[(samples - 1)*(1 + N_CHANNELS)] - (double)(samples - 1)*step) > RASTER*step)
        samples--; /* the last sample is off the raster */
    if (settings.format == CSV) {
        write_csv_names(file);
        write_text(file, rows, samples, ',');
    } else {
        write_header(file, samples, step);
        if (settings.format == ERD)
            write_text(file, rows, samples, ' ');
        else
            beside = write_binary(rows, samples);
    }
    close_result(output);
    put_result(&beside);
    put_result(output);
}

/* ---- the run */

@ASSEMBLY@
@IF ROOM@
static void *room(size_t n, size_t size)
{
    void *memory = calloc(n + 1, size);
    if (memory == NULL) {
        problem(NULL, 0, "there is no room for the results: a larger IPRINT keeps fewer steps");
        exit(INPUT_ERROR);
    }
    return memory;
}

@END@
static void check_values(void)
{
    for (int i = 0; i < N_KEYS; i++)
        if (!parameters[i].given)
            problem(settings.input, 0, "no value is given for %s", parameters[i].keyword);
    if (settings.step > settings.t_end*(1.0 + OVER))
        problem(settings.input, 0, "STEP %g s is larger than STOPT %g s", settings.step, settings.t_end);
    if (settings.t_end/settings.step > 1e12)
        problem(settings.input, 0, "%g steps are too many", settings.t_end/settings.step);
}

/* parameters and constants of the model */
static double p[N_P + 1], c[N_C + 1];

/* Finds both from the values of the parameters; zero if there are none. */
static int find_parameters(Externals *externals)
{
    for (int i = 0; i < N_GIVEN; i++)
        p[i] = parameters[i].value*parameters[i].factor;
@IF ENTERED@
    static double entered[N_P - N_GIVEN], y[N_S + 1], kept[N_W + 1];
    entry(0.0, y, y + N_Q, p, c, kept, entered, externals);
    memcpy(p + N_GIVEN, entered, sizeof entered);
@ELSE@
    (void)externals;
@END@
    constants(p, c);
    for (int i = 0; i < N_C; i++)
        if (!isfinite(c[i]))
            return 0;
    return 1;
}

@WHEELS@@EVENTS@
/* The number of steps; an end that is not a multiple of the step is passed by less than a step. */
static int64_t step_count(void)
{
    const double n = settings.t_end/settings.step, whole = floor(n + 0.5);
    return (int64_t)(fabs(whole*settings.step - settings.t_end) < AT_END*settings.t_end ? whole : ceil(n));
}

@IF ADAPTIVE@
static struct { double *times, *ends, *work; } pace; /* room of a method that chooses its steps */

/* Output times, and the stretches between breaks, of a method that chooses its steps. */
static void set_pace(Job *job)
{
    static double allowed[N_S + 1], largest[N_S + 1];
    static int64_t groups[] = {@UNIT_GROUPS@}; /* of the states: a number for each unit */
    static const double unit_sizes[] = {@UNIT_SIZES@}; /* 1 m, 1 rad, 1 m/s ... in the units of the equations */
    const double near = NEAR_BREAKS*settings.t_end, distance = settings.step*(double)settings.every;
    double *times = pace.times = room((size_t)(job->total/job->every + 3), sizeof *times);
    double *ends = pace.ends = room((size_t)(job->n_breaks + job->total/job->every + 3), sizeof *ends);
    int64_t n = 0, count = 0;
    for (; (double)n*distance < settings.t_end*(1.0 - AT_END); n++)
        times[n] = (double)n*distance;
    times[n] = settings.t_end;
    job->times = times;
    for (int64_t b = 0, i = @HELD@; b < job->n_breaks || i < n;) {
        const int given = b < job->n_breaks && (i >= n || job->breaks[b] <= times[i]);
        const double t = given ? job->breaks[b++] : times[i++];
        if (count > 0 && t - ends[count - 1] <= near)
            count--; /* of breaks that nearly coincide, the later */
        if (t > near && t < settings.t_end - near)
            ends[count++] = t;
    }
    ends[count++] = settings.t_end;
    job->breaks = ends;
    job->n_breaks = count;
    job->total = job->last = n;
    job->every = 1;
    job->h = distance;
    for (int j = 0; j < N_S; j++) {
        allowed[j] = ABSOLUTE*settings.rtol*unit_sizes[j];
        for (int whose = OF_ALL; whose <= OF_STATE; whose++)
            if (absolute_of[whose][j] > 0.0) {
                allowed[j] = absolute_of[whose][j]*states[j].factor;
                groups[j] = -1;
            }
    }
    job->atol = allowed;
    job->groups = groups;
    job->largest = largest;
    job->rtol = settings.rtol;
    job->look = settings.method == AUTO ? 2 : 1;
    job->work = pace.work = room((size_t)work_room(), sizeof *job->work);
    job->most = job->pause = MOST_STEPS + STEPS_OF_ROW*(n + 1);
}

@END@
@CAPS@static void tell_end(const Job *job)
{
    const double reached = job->reached == job->total ? settings.t_end : (double)job->reached*job->h;
    const double t = job->method < N_FIXED ? reached : job->t;
    if (job->status == FINISHED)
        printf("finished at t = %g s", t);
    else if (job->status == NOT_FINITE) {
        printf("stopped at t = %g s:", t);
        for (int i = 0; i < N_S; i++)
            if (!isfinite(job->bad[i]))
                printf(" %s", states[i].keyword);
        printf(" is no longer a finite number; try a smaller step");
    } else if (job->status == STEP_TOO_SMALL)
        printf("stopped at t = %g s: the step became too small, %s asks for it", t, states[job->culprit].keyword);
    else if (job->status == TOO_MANY_STEPS)
        printf("stopped at t = %g s: %ld steps were not enough", t, (long)job->most);
    else
@IF ASSEMBLY@
        printf("stopped at t = %g s: the loop %s cannot be kept closed: a correction of %.2g was needed", t,
            rows_of_loops[job->worst], job->moved);
@ELSE@
        printf("stopped at t = %g s: an external routine failed", t);
@END@
}

@WHOLE_RUN@
@IF ADAPTIVE@
/* What the steps took that a method chose, and whether a fast mode held explicit ones. */
static void tell_work(const Job *job, double went_over)
{
    printf("\n%ld rates", (long)job->evaluations);
    if (job->slopes > 0)
        printf(", %ld Jacobians, %ld factorisations, %ld failures of Newton's method", (long)job->slopes,
            (long)job->factors, (long)job->failures);
    if (went_over > 0.0)
        printf("\nwent over to %s at t = %g s: a mode of %.2g 1/s held %ld steps", methods[RADAU5], went_over,
            job->fastest, (long)job->slowed);
    if (job->backs > 0)
        printf("\nwent back %ld times, at last at t = %g s: explicit steps came on sooner", (long)job->backs,
            job->went_back);
    if (job->fastest > 0.0 && (double)job->slowed >= DOUBTFUL*(double)job->steps && job->slopes == 0)
        printf("\na mode of %.2g 1/s limited %ld of %ld steps by stability, not accuracy; "
            "a stiff method takes longer ones", job->fastest, (long)job->slowed, (long)job->steps);
}
@END@

static int simulate(void)
{
    static double y[N_S + 1], k[N_S + 1], old[N_S + 1], bad[N_S + 1], memory[@MEMORY@ + 1];
    Externals externals = {NULL, memory, 0, 0};
    static double kept[N_W + 1];
    Job job;
    memset(&job, 0, sizeof job);
    if (!find_parameters(&externals))
        problem(settings.input, 0,
            "the constants of the model cannot be computed: may a mass, inertia or length be zero?");
    for (int i = 0; i < N_S; i++)
        y[i] = states[i].value*states[i].factor;
@IF ADAPTIVE@
    job.method = settings.method == AUTO ? TSIT5 : settings.method;
@ELSE@
    job.method = settings.method;
@END@
    job.total = job.last = step_count();
    job.every = settings.every;
    job.h = settings.step;
    job.p = p;
    job.c = c;
    job.externals = &externals;
    job.y = y;
    job.k = k;
    job.old = old;
    job.bad = bad;
    job.t_end = settings.t_end;
    job.kept = kept;
    job.with_inputs = 1;
@IF INPUTS@
    static Input inputs[N_I];
    prepare_inputs(inputs);
    job.inputs = inputs;
    double *breaks = find_breaks(job.total, &job.n_breaks);
    job.breaks = breaks;
@END@
@IF ADAPTIVE@
    if (job.method >= N_FIXED)
        set_pace(&job);
@END@
    stop_if_problems();
@IF ASSEMBLY@
    static double given[N_S + 1];
    assemble(&job, y);
    memcpy(given, y, sizeof given);
@END@
@IF DAE@
    static double frozen[2*N_V + 1];
    job.frozen = frozen;
    @DAE@
@END@
@IF PROJECTED@
    static double root_q[N_Q + 1], root_u[N_U + 1], past[3*(1 + N_U)], bridges[@BRIDGE_ROOM@ + 1];
    find_metric(&job, y, root_q, root_u);
    job.root_q = root_q;
    job.root_u = root_u;
    job.past = past;
    job.bridges = bridges;
    job.visit[1] = 1.0;
    job.staged = @STAGED@;
@END@
@IF WHEELS@
    begin_wheels(&job);
@END@
    static double caps[N_S + 1];
    find_caps(p, y, caps);
    job.caps = caps;
@IF ECHO_ROUTINES@
    write_echo(&job, y);
@ELSE@
    write_echo(y);
@END@
    stop_if_problems();
@IF EVENTS@
    char ended[600];
@ELSE@
    job.rows = room((size_t)(job.total/job.every + 3), (1 + N_S + N_OUT + N_W)*sizeof(double));
@END@
    Result output = open_result(settings.output, "", "w");
    stop_if_problems();
    const clock_t start = clock();
@IF EVENTS@
    const double went_over = run_with_events(&job, ended, sizeof ended);
@ELSE@
    const double went_over = run_whole(&job);
@END@
@IF ASSEMBLY@
    if (job.status == AT_REST)
        problem(settings.input, 0, "the start is singular and at rest: give a speed to choose among its directions");
    stop_if_problems();
@END@
    const double seconds = (double)(clock() - start)/CLOCKS_PER_SEC;
    if (job.method < N_FIXED)
        printf("%s: %ld steps of %g s, %s, ", settings.title, (long)job.reached, job.h, methods[settings.method]);
    else
        printf("%s: %ld steps of %.3g to %.3g s, %ld rejected, %s, ", settings.title, (long)job.steps, job.shortest,
            job.longest, (long)job.rejected, methods[settings.method]);
@IF EVENTS@
    if (ended[0])
        printf("%s", ended);
    else
        tell_end(&job);
@ELSE@
    tell_end(&job);
@END@
@IF ASSEMBLY@
    tell_branch(&job, given);
@END@
@IF ADAPTIVE@
    if (job.method >= N_FIXED)
        tell_work(&job, went_over);
@ELSE@
    (void)went_over;
@END@
    printf("\n%.3g s of computing, %.3g s for each simulated second\n", seconds,
           seconds/fmax((double)job.reached*job.h, 1e-300));
    write_output(&output, job.rows, job.filled);
    free(job.rows);
@IF ADAPTIVE@
    free(pace.times);
    free(pace.ends);
    free(pace.work);
@END@
@IF INPUTS@
    free(breaks);
@END@
    stop_if_problems();
    printf("wrote %s and %s\n", settings.output, settings.echo);
@IF EVENTS@
    return job.status == FINISHED && !ended[0] ? FINE : ENDED_EARLY;
@ELSE@
    return job.status == FINISHED ? FINE : ENDED_EARLY;
@END@
}

/* ---- the command line */

static const char HELP[] =
    "usage: @STEM@ [options] [PARSFILE]\n\n"
    "  PARSFILE         parameters, initial values and inputs (default: @STEM@.par)\n"
    "  --output FILE    all channels over time (default: @STEM@.erd; a name that ends in .csv gives a table)\n"
    "  --echo FILE      everything as it was used, again a PARSFILE (default: @STEM@.echo)\n"
    "  --t-end S        end of the run in s, instead of STOPT of the file\n"
    "  --step S         time step in s, instead of STEP\n"
    "  --method NAME    @METHOD_LIST@, instead of METHOD\n"
    "  --output-every N steps from one output to the next, instead of IPRINT\n"
    "  --rtol E         relative tolerance of methods that choose their steps, instead of RTOL\n"
    "  --atol E         absolute tolerance in the unit of each state, instead of ATOL\n"
    "  --binary         ERD file with 64-bit samples beside it\n"
    "  --classic        ERD file and echo in the layout of 1990: 32-bit samples beside it, 6 digits\n"
    "  --help           this text\n\n"
    "Exit codes: 0 fine, 1 an error in files or values, 2 wrong usage, 4 the run ended early.\n";

static int usage(const char *what, const char *word)
{
    fprintf(stderr, "%s: %s '%s'; try --help\n", STEM, what, word);
    return USAGE;
}

int main(int count, char **words)
{
    static const char *const settable[] = {
        "--t-end", "stopt", "--step", "step", "--method", "method", "--output-every", "iprint",
        "--rtol", "rtol", "--atol", "atol"};
    enum { N_SETTABLE = sizeof settable/sizeof settable[0]/2 };
    const char *later[N_SETTABLE] = {NULL};
    static char input[300], echo[300], output[300];
    int layout = ERD;
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        int known = 0;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(HELP, stdout);
            return FINE;
        }
        if (strcmp(word, "--binary") == 0 || strcmp(word, "--classic") == 0) {
            layout = word[2] == 'b' ? ERD_BINARY : ERD_CLASSIC;
            continue;
        }
        if (strncmp(word, "--", 2) != 0) {
            if (settings.input != NULL)
                return usage("a second PARSFILE", word);
            settings.input = word;
            continue;
        }
        if (i + 1 == count)
            return usage("unknown option, or no value after", word);
        if ((known = strcmp(word, "--output") == 0))
            settings.output = words[i + 1];
        else if ((known = strcmp(word, "--echo") == 0))
            settings.echo = words[i + 1];
        for (int k = 0; k < N_SETTABLE; k++)
            if (strcmp(word, settable[2*k]) == 0) {
                later[k] = words[i + 1];
                known = 1;
            }
        if (!known)
            return usage("unknown option", word);
        i++;
    }
    snprintf(input, sizeof input, "%s.par", STEM);
    snprintf(echo, sizeof echo, "%s.echo", STEM);
    snprintf(output, sizeof output, "%s.erd", STEM);
    settings.input = settings.input != NULL ? settings.input : input;
    settings.echo = settings.echo != NULL ? settings.echo : echo;
    settings.output = settings.output != NULL ? settings.output : output;
    const size_t length = strlen(settings.output);
    settings.format = length > 4 && same(settings.output + length - 4, ".csv") ? CSV : layout;
    if (settings.format == CSV && layout != ERD)
        return usage("--binary and --classic are layouts of ERD files, not of", settings.output);
    read_parsfile(settings.input, NULL, 0, 0);
    for (int k = 0; k < N_SETTABLE; k++)
        if (later[k] != NULL)
            read_setting(settable[2*k + 1], later[k], settable[2*k], 0);
    check_values();
    stop_if_problems();
    return simulate();
}
