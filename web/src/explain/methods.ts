/* What the pages tell: of each method a small scene, the stages of its step as the engine has them,
 * and a sentence or two for each. */

export interface Stage {
  name: string; /* as the engine calls it; "before": the particles at the start */
  title: string;
  text: string;
  particles?: "plain" | "velocity";
  grid?: "velocity" | "mass" | "density";
  cells?: "pressure" | "density" | "phi";
}

export interface Method {
  id: string;
  name: string;
  title: string;
  lead: string;
  scene: string;
  fields: string[];
  stages: Stage[];
  hover: "linear" | "quadratic" | "neighbours" | null;
  playground: string;
  trap?: string[]; /* integrators side by side */
}

const tank = (solver: string, dx: number, more = "") => `spate: 1
name: explained
dimension: 2
domain: {size: [1, 0.75], dx: ${dx}}
fps: 30
solver: ${solver}
materials: {water: {model: liquid, density: 1000, bulk_modulus: 5.0e3}}
bodies: [{name: dam, material: water, velocity: [0.6, 0], shape: {box: {min: [0, 0], max: [0.5, 0.5]}}, particles_per_cell: 4}]
${more}`;

export const METHODS: Method[] = [
  {
    id: "flip", name: "FLIP", title: "FLIP: particles carry, a grid decides",
    lead: "Particles hold the liquid and its velocity, so splashes stay sharp. Once a step they lend their velocity to a grid, "
      + "where one linear system finds the pressure that keeps the liquid incompressible.",
    scene: tank("{type: flip}", 0.0625), fields: ["velocity", "pressure", "phi"], hover: "linear", playground: "dam",
    stages: [
      { name: "before", title: "Particles", text: "Each particle has a place and a velocity. Nothing else knows where the liquid is.", particles: "velocity" },
      { name: "scatter", title: "Particles to grid", text: "Every particle spreads its momentum over the faces around it with weights that fall off with distance. "
        + "Divided by the sum of weights this is the velocity of the grid. Point at a particle to see its weights.", particles: "plain", grid: "velocity" },
      { name: "forces", title: "Forces", text: "Gravity acts on the grid: every arrow gains g dt. The surface (the level set, blue inside) tells which cells are liquid.",
        particles: "plain", grid: "velocity", cells: "phi" },
      { name: "pressure", title: "Pressure", text: "Now liquid flows into some cells faster than out of them. The pressure p solves a Poisson equation, zero at the surface; "
        + "its gradient is taken off the velocity, and what flows into a cell flows out of it.", grid: "velocity", cells: "pressure" },
      { name: "extrapolate", title: "Extrapolation", text: "Velocities are continued a few cells into the air, so that particles at the surface have something to read.",
        particles: "plain", grid: "velocity" },
      { name: "gather", title: "Grid to particles", text: "A particle takes the change of the grid's velocity (FLIP, lively) and a few per cent of the velocity itself "
        + "(PIC, which damps), and moves through the grid's velocity with Runge and Kutta.", particles: "velocity" },
    ],
  },
  {
    id: "mpm", name: "MPM", title: "MPM: one grid for liquids, sand and jelly",
    lead: "The material point method is FLIP for everything that has a stress. Particles remember how they were deformed; the grid turns their stress into forces, "
      + "and contact between bodies comes for free.",
    scene: tank("{type: mpm, integrator: apic}", 0.0625), fields: ["mass", "velocity"], hover: "quadratic", playground: "materials",
    stages: [
      { name: "before", title: "Particles", text: "Each has mass, velocity, a deformation and, with APIC, the velocity's gradient around it.", particles: "velocity" },
      { name: "scatter", title: "Particles to grid", text: "Mass, momentum and the force of the stress go to the nine nodes around a particle, by a quadratic B-spline. "
        + "Discs show the mass of nodes. Point at a particle to see its weights.", particles: "plain", grid: "mass" },
      { name: "grid", title: "On the grid", text: "Momentum over mass is velocity. Gravity is added, and walls and colliders take away what would go into them.",
        particles: "plain", grid: "velocity" },
      { name: "gather", title: "Grid to particles", text: "Particles take velocity and its gradient from the same nodes, move, and update their deformation. Then the grid is forgotten.",
        particles: "velocity" },
    ],
  },
  {
    id: "sph", name: "SPH", title: "SPH: no grid, only neighbours",
    lead: "Smoothed particle hydrodynamics sums over neighbours. A particle's density is the mass around it, weighted by a kernel; where that is too high, pressure pushes them apart.",
    scene: tank("{type: sph}", 0.0625).replace(", particles_per_cell: 4", ""), fields: [], hover: "neighbours", playground: "sph",
    stages: [
      { name: "before", title: "Particles", text: "Point at a particle: its kernel reaches three spacings, and those within are its neighbours.", particles: "velocity" },
      { name: "neighbours", title: "Neighbours", text: "Particles are sorted into cells as wide as the kernel, so that a search looks at nine cells and not at all particles.", particles: "plain" },
      { name: "density", title: "Density", text: "rho = sum of m W(r). At the surface half of the neighbours are missing, which is why SPH holds surfaces together or must be told not to.", particles: "plain" },
      { name: "forces", title: "Forces", text: "The equation of state turns density into pressure; its gradient, viscosity and gravity give the acceleration.", particles: "velocity" },
      { name: "move", title: "Move", text: "Velocities first, then places with the new velocities: symplectic Euler.", particles: "velocity" },
    ],
  },
  {
    id: "smoke", name: "Stable fluids", title: "Stable fluids: smoke on a grid",
    lead: "There are no particles here. The grid holds velocity and smoke, and a step asks of every cell where its contents came from: that is stable for any step.",
    scene: `spate: 1
name: explained
dimension: 2
domain: {size: [1, 0.75], dx: 0.0625}
fps: 10
solver: {type: smoke}
materials: {smoke: {model: gas, temperature: 60}}
sources: [{name: vent, material: smoke, velocity: [0.3, 0.8], shape: {sphere: {center: [0.4, 0.15], radius: 0.11}}}]
`,
    fields: ["density", "velocity", "pressure"], hover: null, playground: "smoke",
    stages: [
      { name: "before", title: "The gas", text: "Smoke in grey, velocities as arrows, both at the middles of cells here (inside, velocities are on faces).", cells: "density", grid: "velocity" },
      { name: "advect", title: "Advection", text: "From every point one goes back along the flow for a step and takes what is there. Interpolation blurs a little; MacCormack's scheme corrects that.",
        cells: "density", grid: "velocity" },
      { name: "forces", title: "Forces", text: "Warm smoke rises: buoyancy is proportional to temperature. Vorticity confinement brings back eddies that were blurred away.",
        cells: "density", grid: "velocity" },
      { name: "pressure", title: "Projection", text: "The same Poisson equation as in FLIP: the pressure takes away what would pile up, and the velocity is free of divergence.",
        cells: "pressure", grid: "velocity" },
      { name: "sources", title: "Sources", text: "Where smoke flows in, velocity, temperature and density are set. A step is done.", cells: "density", grid: "velocity" },
    ],
  },
  {
    id: "trap", name: "The ASFLIP trap", title: "Two particles in one cell: who lets them part?",
    lead: "Two grains fly apart within a cell, without any force. The grid sees them as one lump at rest. PIC and APIC take the grid's velocity and trap them; "
      + "FLIP keeps their velocity but moves them by the grid. AFLIP comes close by its affine part; ASFLIP also moves them by what the grid cannot hold, and they part as they should.",
    scene: `spate: 1
name: two particles
units: cgs
dimension: 2
domain: {origin: [-8, -2], size: [16, 4], dx: 1, walls: open}
gravity: [0, 0]
duration: 6
fps: 25
solver: {type: mpm, integrator: asflip, alpha: 0.995, beta: [1, 1], dt: 0.004}
materials: {sand: {model: sand, density: 1, bulk_modulus: 1, poisson: 0.3}}
bodies:
  - {name: left, material: sand, shape: {points: [[-0.1, 0]]}, velocity: [-1, 0]}
  - {name: right, material: sand, shape: {points: [[0.1, 0]]}, velocity: [1, 0]}
`,
    fields: [], stages: [], hover: null, playground: "sand", trap: ["pic", "apic", "flip", "aflip", "asflip"],
  },
];
