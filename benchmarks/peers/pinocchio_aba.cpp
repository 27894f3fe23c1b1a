/* Pinocchio's articulated body algorithm, header only, on a tree read from a file (see tree_text in rhs.py). */
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <cstdio>
#include <string>

using namespace pinocchio;

static Model model;
static Data *data;
static Eigen::VectorXd tau, stiffness, damping;

template <typename X, typename Y, typename Z>
static JointIndex add(int axis, JointIndex parent, const SE3 &placement, const std::string &name)
{
    if (axis == 0)
        return model.addJoint(parent, X(), placement, name);
    return axis == 1 ? model.addJoint(parent, Y(), placement, name) : model.addJoint(parent, Z(), placement, name);
}

extern "C" int setup(const char *path)
{
    std::FILE *file = std::fopen(path, "r");
    int n;
    double g[3];
    if (!file || std::fscanf(file, "%d %lf %lf %lf", &n, g, g + 1, g + 2) != 4)
        return -1;
    model = Model();
    model.gravity.linear() = Eigen::Vector3d(g[0], g[1], g[2]);
    std::vector<double> k, d;
    for (int i = 0; i < n; i++) {
        int parent, kind, axis; /* kind 0: hinge, 1: slide, 2: free */
        double x[18];
        if (std::fscanf(file, "%d %d %d", &parent, &kind, &axis) != 3)
            return -1;
        for (double &value : x)
            if (std::fscanf(file, "%lf", &value) != 1)
                return -1;
        const SE3 placement(Eigen::Matrix3d::Identity(), Eigen::Vector3d(x[0], x[1], x[2]));
        const std::string name = "joint" + std::to_string(i);
        const JointIndex p = parent + 1;
        const JointIndex j = kind == 2   ? model.addJoint(p, JointModelFreeFlyer(), placement, name)
                             : kind == 0 ? add<JointModelRX, JointModelRY, JointModelRZ>(axis, p, placement, name)
                                         : add<JointModelPX, JointModelPY, JointModelPZ>(axis, p, placement, name);
        Eigen::Matrix3d inertia;
        inertia << x[7], x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15];
        model.appendBodyToJoint(j, Inertia(x[3], Eigen::Vector3d(x[4], x[5], x[6]), inertia), SE3::Identity());
        for (int m = kind == 2 ? 6 : 1; m > 0; m--) {
            k.push_back(x[16]);
            d.push_back(x[17]);
        }
    }
    std::fclose(file);
    data = new Data(model);
    tau = Eigen::VectorXd::Zero(model.nv);
    stiffness = Eigen::Map<Eigen::VectorXd>(k.data(), model.nv);
    damping = Eigen::Map<Eigen::VectorXd>(d.data(), model.nv);
    return model.nv;
}

extern "C" void call(const double *q, const double *u, double *out)
{
    const Eigen::Map<const Eigen::VectorXd> q_map(q, model.nq), u_map(u, model.nv);
    tau = -(stiffness.cwiseProduct(q_map.tail(model.nv)) + damping.cwiseProduct(u_map)); /* springs in hinges only */
    aba(model, *data, q_map, u_map, tau, Convention::LOCAL);
    Eigen::Map<Eigen::VectorXd>(out, model.nv) = data->ddq;
}
