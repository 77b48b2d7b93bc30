/*
 * Bodies as meshes in a simulation with a grid (Fei et al. 2021, section 5). A vertex is a particle
 * of role ROLE_VERTEX, or ROLE_HELD where something holds it, without stress; forces of elements go
 * to the particles' `force`, which the scatter hands to the nodes, or in part to their velocity
 * (mesh_push). So meshes meet each other, themselves, colliders and other matter on the grid only;
 * but a strand's own step knows colliders, and these push vertices out (mpm/penetration.h).
 *
 * In a step, after the sort: places of vertices, forces (mesh.h), forces to particles. After the
 * gather: positions follow their step (mesh_follow.h), held vertices are put where their hold is, and
 * contact elements are carried along. A
 * vertex that left through an open side takes the forces of its elements along; the other vertices
 * go on. The energy is that of the positions at the beginning of the last step.
 *
 * State: the first id of each body's particles, how far the elements are from rest (it limits the
 * next step), the frames of strands, the normals of contact elements, what holds push with, where
 * vertices were a step before, forces that last, and what systems begin from.
 */
#ifndef SPATE_SOLVER_LAGRANGIAN_H
#define SPATE_SOLVER_LAGRANGIAN_H

#include "solver/lagrangian/mesh.h"
#include "solver/solver.h"

typedef struct lagrangian lagrangian;

bool lagrangian_is_needed(const spate_scene *scene);
/* Whether all mesh bodies are of materials that meshes can have, in a domain that they can be
 * in. */
bool lagrangian_check(const spate_scene *scene, field_report *report);
/* Particle fields that meshes need. */
unsigned lagrangian_fields(const spate_scene *scene);
/* Makes *out, or NULL where there are no meshes. */
spate_status lagrangian_create(spate_simulation *sim, lagrangian **out);
void lagrangian_free(lagrangian *l);
/* Masses, roles and ids of a new simulation's vertices. */
spate_status lagrangian_start(lagrangian *l);

/* How forces reach vertices. Those whose positions follow a share of the motion that the grid does
 * not see feel the same share of forces themselves, before the scatter: so the work of forces is
 * what elements lose, and two vertices at one place can part. */
typedef struct mesh_push {
    double time;     /* that forces act for, s */
    double share[2]; /* of vertices with J below 1, and of the others */
} mesh_push;

/* Adds the forces of elements to the particles; fails where one is turned inside out. */
spate_status lagrangian_add_forces(lagrangian *l, const mesh_push *push);
/* A vertex that its strand pushes into a collider: the impulse goes there and not to the grid. */
typedef struct mesh_press {
    int32_t block;
    int64_t particle;
    int collider;
    const double *x, *lost;
} mesh_press;
typedef void (*mesh_press_note)(void *data, const mesh_press *at);
void lagrangian_each_pressed(const lagrangian *l, mesh_press_note note, void *data);
/* After the gather: positions of semi-implicit meshes follow their step (mesh_follow.h). *farthest gets
 * the longest way, m. */
spate_status lagrangian_follow(lagrangian *l, double *farthest);
/* Puts held vertices where they are at the end of the step. */
void lagrangian_hold(lagrangian *l);
/* After the gather: the normals of contact elements go along with what is around them. */
void lagrangian_carry_contact(lagrangian *l);
/* The longest stable step, with waves crossing at most `share` of an element in it; `speed` is that
 * of the fastest particle. */
double lagrangian_step_limit(const lagrangian *l, double speed, double share);
/* How long a step of semi-implicit meshes may be, which stiffness does not limit. */
double lagrangian_fall_limit(const lagrangian *l, double speed);
/* The speed of held vertices at most. */
double lagrangian_hold_speed(const lagrangian *l);
/* The lightest vertex, kg. */
double lagrangian_lightest(const lagrangian *l);

/* The id of a body's first vertex; the others' follow. */
uint64_t lagrangian_first_id(const lagrangian *l, int group);

/* Of semi-implicit steps, in the last one: how often changes were halved, and how many iterations
 * the slowest system took; NAN where there are no such meshes. */
double lagrangian_halvings(const lagrangian *l);
double lagrangian_iterations(const lagrangian *l);
/* Elastic energy of all meshes of a kind, J; NAN where there are none. */
double lagrangian_energy(const lagrangian *l, mesh_kind kind);
/* Of cloth and strands, by kind of strain; NAN where there are none that have it. */
strain_energy lagrangian_strain_energy(const lagrangian *l);
/* Of contact elements (mesh_contact.h), NAN where there are none: energy, J; the largest compression
 * in the last step; how many were turned inside out and began anew, since the start. */
double lagrangian_contact_energy(const lagrangian *l);
double lagrangian_contact_compression(const lagrangian *l);
double lagrangian_contact_resets(const lagrangian *l);
void lagrangian_state(lagrangian *l, state_blocks *out);
uint64_t lagrangian_hash(const lagrangian *l, uint64_t seed);

#endif
