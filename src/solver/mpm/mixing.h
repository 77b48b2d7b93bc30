/*
 * Liquids that mix, and solids that dissolve in them (after Yan et al. 2018, whose equation numbers
 * are used, in a form that loses nothing).
 *
 * Particles keep the mass fractions a of the scene's species and their mass. With a node's m_I and
 * a_I = sum w m a / m_I over the liquids of a mixture, a step of length t
 *
 *    diffuses    da_I = -(k t / m_I) sum m grad a . grad w,       grad a = sum a_I grad w
 *                a   += sum w da_I - e (r - S r),   r = a - S a,  S a = sum w a_I
 *    dissolves   dC_I = kappa t (C_s - C_I), at nodes with liquid m^f and solid m^s; C: fraction of the
 *                solid in the liquid, which gains m^s / (m^s + m^f) dC_I; the solid loses
 *                m^f / (m^s + m^f) dC_I of itself and takes up as much liquid in exchange
 *
 * The first is the weak form of a' = k lap a (eq. 27; the gradient of eq. 28 is none): the mass of
 * each species stays, and nothing passes through sides and surfaces. It only sees what the grid
 * holds: two particles in one cell would differ for ever. So what the grid does not hold of r, r -
 * S r, is filtered away with e = 1 - exp(-k (pi / h)^2 t), as fast as diffusion would at a cell's
 * wave length; S keeps sums, so this too loses nothing. Blending a with S a instead nearly doubles
 * the diffusion.
 *
 * The second is Noyes and Whitney's law (eq. 29 - 32), exact in mass node by node. A particle of
 * the solid whose fraction has fallen to C_s becomes liquid, for ever: without strain or pressure,
 * with its velocity, mass and fractions. Its elastic energy is booked as released.
 *
 * Density. A liquid's volume at rest is m sum a_k / rho_k, so mixing makes some places swell and
 * others shrink, all together not at all. J there follows by d ln J = -sum w (dV_I / V_I), the mean
 * of a node: with each particle's own change the ones that shrink would open room, which holds no
 * tension, and those that swell would push. Solids keep their volume until they are liquid.
 *
 * Rates are slow against sound, so this is done once in MIXING_STEPS steps with their time
 * together, or as often as it needs; weights are quadratic whatever the solver's kernel. Sides need
 * no mirror.
 *
 * Heat spreads by the same passes, with temperatures in the place of fractions (heat.c).
 */
#ifndef SPATE_SOLVER_MPM_MIXING_H
#define SPATE_SOLVER_MPM_MIXING_H

#include "solver/mpm/mpm.h"

enum { MIXING_STEPS = 8 };

/* The passes, [dim - 2] each (mixing_kernels.c). */
#define MPM_MIXING_PASSES(TASK)                                                   \
    TASK(amounts)   /* occupied blocks: species and masses to tiles */            \
    TASK(fractions) /* all blocks: nodes' a_I and masses */                       \
    TASK(flux)      /* occupied blocks: what flows, and r, to tiles */            \
    TASK(change)    /* all blocks: what particles gain, and how volumes change */ \
    TASK(mix)       /* occupied blocks: particles' fractions */                   \
    TASK(exchange)  /* all blocks: what the liquid gains and the solid loses */   \
    TASK(dissolve)  /* occupied blocks: the same, and the solids that have fallen */
typedef struct mixing_passes {
    MPM_MIXING_PASSES(TASK_FIELD)
} mixing_passes;

typedef struct mpm_mixing {
    const mpm_view *view;
    uint8_t *group_mixture; /* 1 + mixture of a liquid */
    uint8_t *group_solid;   /* 1 + species of a solid that dissolves, 0: none */
    bool volumes;           /* species differ in density */
    bool filters;           /* the sub-grid part; false in tests */
    real blend;             /* share of S a that is blended in, 0 but in tests */
    double limit;           /* the longest time at once, s */
    /* of this pass */
    int mixture, solid;
    real liquids[SPECIES_MAX]; /* 1 of the mixture's liquids, else 0 */
    real diffusion;            /* k t / dx^2 */
    real4 *carried;            /* by particle: what spreads */
    real filter;               /* e */
    real rate, saturation;     /* kappa t, C_s */
    real *tiles;               /* eight reals a node */
    real *values, *masses;     /* four reals a node: a_I, then its change; (m^f, m^s, 0, 0), then
                                  (-d ln J, 0, 0, 0) or what solids gain */
    int32_t *fallen;           /* by block: solids that have fallen to C_s */
    int64_t tile_capacity, block_capacity;
    /* that a checkpoint holds */
    struct {
        double time;     /* since it was last done, s */
        double released; /* elastic energy of what was dissolved, J */
        int64_t dissolved;
    } state;
} mpm_mixing;

/* Nothing where no phases mix. */
spate_status mpm_mixing_create(mpm *m);
void mpm_mixing_free(mpm *m);
void mpm_mixing_free_arrays(spate_context *ctx, mpm_mixing *s);
/* Whether a scene's mixtures are ones that this can do. */
bool mpm_mixing_check(const spate_scene *scene, field_report *report);
/* Room for a pass of s. */
spate_status mpm_mixing_prepare(mpm *m, mpm_mixing *s);
/* Spreads what the particles of a mixture carry, by diffusion k, m^2/s, in a time, s. */
void mpm_mixing_diffuse(mpm *m, mpm_mixing *s, int mixture, double k, double time);
/* Before tiles are placed: particles may change their field. */
spate_status mpm_mix(mpm *m);
/* How much faster than in material c alone sound may be by what is mixed in. */
double mpm_mixing_speedup(const spate_scene *scene, int c);

#endif
