/* MuJoCo's mj_forward on a model in its own format. */
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <string.h>

static mjModel *model;
static mjData *data;

int setup(const char *path)
{
    char error[1000] = "";
    model = mj_loadXML(path, NULL, error, sizeof error);
    if (!model) {
        fprintf(stderr, "%s\n", error);
        return -1;
    }
    data = mj_makeData(model);
    return (int)model->nv;
}

void call(const double *q, const double *u, double *out)
{
    memcpy(data->qpos, q, (size_t)model->nq*sizeof *q);
    memcpy(data->qvel, u, (size_t)model->nv*sizeof *u);
    mj_forward(model, data);
    memcpy(out, data->qacc, (size_t)model->nv*sizeof *out);
}
