// The viewer's page: what comes from `spate view` is drawn, what people do goes back.
import {Camera} from './camera.js';
import {Range, colourOfGroup, mapColour} from './colours.js';
import {Plot} from './plot.js';
import {Pointer} from './pointer.js';
import {Connection} from './protocol.js';
import {Renderer as CanvasRenderer} from './render_2d.js';
import {Renderer as GlRenderer} from './render_gl.js';

const $ = id => document.getElementById(id);
const canvas = $('picture');
const state = {hello: null, frame: null, camera: null, tool: 'look', colour: 'material', asked: false, fresh: false, fps: 0, index: 0, playing: false};
const range = new Range(), plot = new Plot($('plot'));

function makeRenderer() {
  if (!new URLSearchParams(location.search).has('canvas'))
    try { return new GlRenderer(canvas); } catch (e) { console.warn(String(e)); }
  const other = canvas.cloneNode();
  if (canvas.getContext('2d') === null) { canvas.replaceWith(other); return new CanvasRenderer(other); }
  return new CanvasRenderer(canvas);
}
const renderer = makeRenderer();

function notice(text, seconds = 8) {
  $('notice').textContent = text;
  $('notice').hidden = !text;
  clearTimeout(notice.timer);
  if (text && seconds) notice.timer = setTimeout(() => $('notice').hidden = true, 1000 * seconds);
}
function options(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value, value === chosen, value === chosen)));
}
const short = n => n >= 1e6 ? (n / 1e6).toFixed(2) + 'M' : n >= 1e4 ? (n / 1e3).toFixed(0) + 'k' : String(n);

// ---- What comes ----
const connection = new Connection({
  hello(m) {
    // a run that was made anew may be of another scene
    const first = ['name', 'mode', 'solver', 'dimension', 'origin', 'size'].some(k => String(state.hello?.[k]) !== String(m[k]));
    state.hello = m;
    renderer.setScene(m, g => colourOfGroup(m, g));
    if (first) {
      state.camera = new Camera(m);
      fillPanel(m);
    }
    notice('');
    timeline(m);
    if (state.colour !== 'material') connection.say('colour', state.colour);
    askPlot(first);
    ask();
  },
  parts(m) { renderer.setSolids(m.solids); },
  frame(m) {
    state.asked = false;
    state.fresh = true;
    state.frame = m;
    state.bytes = m.bytes;
    renderer.setFrame(m);
    if (m.scalar) range.follow(m.scalar);
    else if (m.grid && state.colour !== 'material') range.towards(m.grid.low[0], m.grid.high[0]);
    const ends = range.ends();
    Object.assign(renderer.options, ends, {mapped: state.colour !== 'material' && !!(m.scalar || m.grid)});
    if (m.quantities && state.hello.mode === 'live') plot.add(m.time, m.quantities[0]);
    if (state.hello.mode === 'folder') { state.index = m.index; $('time').value = m.index; plot.mark(m.time); }
    legend(ends);
    facts(m);
  },
  timeline(m) {
    const atEnd = state.index >= state.hello.frames - 1;
    Object.assign(state.hello, m, {kind: 'hello'});
    timeline(state.hello);
    if ($('follow').checked && atEnd) seek(m.frames - 1);
  },
  notice(m) { notice(m.text); if (state.hello) ask(); },
  picked(m) { showPicked(m); },
  series(m) { const name = $('quantity').value; plot.clear(name); if (m.series[name]) plot.set(m.time, m.series[name]); },
  recording(m) { download(new Blob([m.scene], {type: 'text/yaml'}), `${state.hello.name.replace(/\W+/g, '_')}_play.yaml`); },
  lost() { state.asked = false; notice('The viewer is not there; trying again. (Did it end?)', 0); },
});

// A frame is asked for when the last one has been drawn, never before.
function ask() {
  if (state.asked) return;
  state.asked = true;
  connection.say('frame');
}

// ---- The panel ----
function fillPanel(m) {
  const live = m.mode === 'live', plain = a => !/\s/.test(a.name), names = (m.grid ? m.fields : m.attributes).filter(a => plain(a) && !['P', 'id', 'pscale', 'material'].includes(a.name));
  document.title = `${m.name} · Spate`;
  $('name').textContent = m.name;
  $('tools').hidden = false;
  document.querySelectorAll('[data-tool]').forEach(b => b.hidden = (!live && !['look', 'pick'].includes(b.dataset.tool)) || (m.grid && b.dataset.tool === 'pick'));
  $('tool-settings').hidden = !live;
  for (const id of ['reset', 'save']) $(id).hidden = !live;
  $('step').hidden = !live;
  const colours = [['material', 'material']];
  for (const a of names) {
    colours.push([a.name, a.components > 1 ? `${a.name} (length)` : a.name]);
    if (a.components === 3) for (const c of 'xyz'.slice(0, m.dimension)) colours.push([`${a.name}_${c}`, `${a.name}_${c}`]);
  }
  if (!m.grid && !names.some(a => a.name === 'speed')) colours.push(['speed', 'speed']);
  options($('colour'), colours, state.colour);
  options($('material'), m.materials.map((x, i) => [String(i), x.name]), '0');
  $('pour-row').hidden = m.materials.length < 2;
  const quantities = m.quantities.filter(plain); // a name with blanks cannot be said
  const wanted = ['kinetic_energy', ...quantities.map(q => q.name)].find(n => quantities.some(q => q.name === n));
  options($('quantity'), quantities.map(q => [q.name, q.name]), wanted);
  if (live) {
    if (![...$('speed').options].some(o => +o.value === m.speed)) $('speed').add(new Option(String(m.speed), String(m.speed)));
    $('speed').value = String(m.speed);
  }
}
function timeline(m) {
  const folder = m.mode === 'folder';
  $('time').hidden = $('follow-row').hidden = !folder;
  if (!folder) return;
  $('time').max = m.frames - 1;
  $('play').textContent = state.playing ? 'Pause' : 'Play';
}
function legend({range: [low, high], signs}) {
  const shown = renderer.options.mapped;
  $('legend').hidden = !shown;
  if (!shown) return;
  const c = $('ramp').getContext('2d');
  for (let i = 0; i < 256; i++) { c.fillStyle = `rgb(${mapColour(i / 255, signs)})`; c.fillRect(i, 0, 1, 1); }
  const base = state.colour.replace(/_[xyz]$/, ''), entry = [...state.hello.attributes ?? [], ...state.hello.fields ?? []].find(a => a.name === base);
  $('low').textContent = low.toPrecision(3);
  $('high').textContent = high.toPrecision(3);
  $('unit').textContent = entry?.unit ?? '';
}
function facts(m) {
  const live = state.hello.mode === 'live', count = m.particles ? `${short(m.particles.count)} particles` : m.grid ? `${m.grid.size.join(' × ')} cells` : '';
  const pace = live && m.state === 'running' ? ` · ${m.pace.toPrecision(2)}× real time · ${Math.round(m.rate)} steps/s` : live ? ` · ${m.state}` : '';
  $('facts').textContent = count + pace;
  $('clock').textContent = `${m.time.toFixed(3)} s`;
  if (live) $('play').textContent = m.state === 'running' ? 'Pause' : 'Play';
}
function showPicked(m) {
  const rows = Object.entries(m.values).map(([name, v]) => {
    const row = document.createElement('tr');
    row.append(...[name, v.map(x => x === null ? '–' : +x.toPrecision(4)).join('  ')].map(t => Object.assign(document.createElement('td'), {textContent: t})));
    return row;
  });
  $('picked').hidden = false;
  $('picked').querySelector('h2').textContent = `Particle ${m.id}`;
  $('picked').querySelector('table').replaceChildren(...rows);
  $('panel').classList.add('open');
  state.picked = m.id;
}
function askPlot(anew = true) {
  const name = $('quantity').value;
  if (anew) plot.clear(name, state.hello?.quantities.find(q => q.name === name)?.unit);
  if (name) connection.say('plot', name);
}
function download(blob, name) {
  const a = Object.assign(document.createElement('a'), {href: URL.createObjectURL(blob), download: name});
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

// ---- What people do ----
function choose(tool) {
  state.tool = tool;
  document.querySelectorAll('[data-tool]').forEach(b => b.setAttribute('aria-pressed', b.dataset.tool === tool));
}
function toggle() {
  if (state.hello?.mode === 'live') connection.say(state.frame?.state === 'running' ? 'pause' : 'resume');
  else {
    state.playing = !state.playing;
    if (state.playing && state.index >= state.hello.frames - 1) seek(0);
    timeline(state.hello);
  }
}
function seek(index) {
  state.index = Math.max(0, Math.min(state.hello.frames - 1, index));
  connection.say('seek', state.index);
}
document.querySelectorAll('[data-tool]').forEach(b => b.addEventListener('click', () => choose(b.dataset.tool)));
$('colour').addEventListener('change', e => { state.colour = e.target.value; range.reset(); connection.say('colour', state.colour); });
$('draw').addEventListener('change', e => renderer.options.draw = e.target.value);
$('solids').addEventListener('change', e => renderer.options.solids = e.target.value);
$('quantity').addEventListener('change', () => askPlot());
$('speed').addEventListener('change', e => connection.say('speed', +e.target.value));
$('play').addEventListener('click', toggle);
$('step').addEventListener('click', () => connection.say('step', 1));
$('reset').addEventListener('click', () => { plot.clear(plot.name, plot.unit); connection.say('reset'); });
$('save').addEventListener('click', () => connection.say('save'));
$('stop').addEventListener('click', () => { if (confirm('End the viewer’s server?')) connection.say('stop'); });
$('photo').addEventListener('click', () => { paint(); renderer.canvas.toBlob(b => b && download(b, 'spate.png')); });
$('time').addEventListener('input', e => { state.playing = false; timeline(state.hello); seek(+e.target.value); });
$('more').addEventListener('click', e => e.target.setAttribute('aria-expanded', $('panel').classList.toggle('open')));
addEventListener('keydown', e => {
  if (['SELECT', 'INPUT', 'BUTTON'].includes(e.target.tagName) && e.key !== 'Escape') return;
  const tools = [...document.querySelectorAll('[data-tool]:not([hidden])')];
  if (e.key === ' ') { toggle(); e.preventDefault(); }
  else if (e.key === '.') connection.say('step', 1);
  else if (e.key === 'r') $('reset').click();
  else if (e.key === 'ArrowRight' && state.hello?.mode === 'folder') seek(state.index + 1);
  else if (e.key === 'ArrowLeft' && state.hello?.mode === 'folder') seek(state.index - 1);
  else if (tools[+e.key - 1]) choose(tools[+e.key - 1].dataset.tool);
});
new Pointer(renderer.canvas, {
  camera: () => state.camera, frame: () => state.frame, tool: () => state.tool, say: (...w) => connection.say(...w),
  radius: () => state.camera.extent * (0.01 + 0.11 * $('size').value ** 1.5),
  pace: () => Math.max(0.02, state.frame?.pace || 1),
  material: () => +$('material').value,
  most: () => 6 * Math.sqrt(Math.max(...state.hello.gravity.map(Math.abs), 1) * state.camera.extent),
});

// ---- The loop ----
function paint() {
  const density = Math.min(devicePixelRatio || 1, 2);
  state.camera.insets = innerWidth > 720 ? [96, 312] : [0, 0];
  renderer.draw(state.camera, Math.round(innerWidth * density), Math.round(innerHeight * density));
}
let seeked = 0;
function loop(now) {
  if (state.camera && state.frame) {
    try { paint(); } catch (e) { notice(String(e), 0); throw e; }
    if (state.fresh) { state.fresh = false; document.body.dataset.frames = (+document.body.dataset.frames || 0) + 1; ask(); }
    if (state.playing && !state.fresh && now - seeked > 1000 / Math.min(60, state.hello.fps)) {
      seeked = now;
      if (state.index < state.hello.frames - 1) seek(state.index + 1);
      else if (!$('follow').checked) { state.playing = false; timeline(state.hello); }
    }
    if (state.picked !== undefined && state.hello.mode === 'live' && now - (loop.values ?? 0) > 500 && state.frame.state === 'running') {
      loop.values = now;
      connection.say('values', state.picked);
    }
  }
  requestAnimationFrame(loop);
}
requestAnimationFrame(loop);
