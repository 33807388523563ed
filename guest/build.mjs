/**
 * Builds the guest: AssemblyScript → core module → WASI preview-2 component, through jco's JavaScript API.
 * Not on the path of a call. `node guest/build.mjs`; run by `npm run build`.
 *
 *   dist/portcullis.wasm   the component, the only thing that ships
 *   build/reference/       the same component through jco's generated glue, for the conformance tests only
 *
 * The build ends with an error unless the component imports exactly what the capability claim says, exports exactly
 * what the runner calls, and declares its largest memory. The same sources give the same bytes.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { componentEmbed, componentNew, componentWit, transpile } from '@bytecodealliance/jco';
import { _addPreopen } from '@bytecodealliance/preview2-shim/filesystem';
import { main as asc } from 'assemblyscript/asc';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What the core module may import: [interface, function]. This list is the capability claim. */
const IMPORTS = [
  ['wasi:filesystem/preopens@0.2.12', 'get-directories'],
  ['wasi:filesystem/types@0.2.12', '[method]descriptor.open-at'],
  ['wasi:filesystem/types@0.2.12', '[method]descriptor.read'],
  ['wasi:filesystem/types@0.2.12', '[method]descriptor.read-directory'],
  ['wasi:filesystem/types@0.2.12', '[method]directory-entry-stream.read-directory-entry'],
  ['wasi:filesystem/types@0.2.12', '[resource-drop]descriptor'],
  ['wasi:filesystem/types@0.2.12', '[resource-drop]directory-entry-stream'],
];
const EXPORTS = ['cabi_realloc', 'further', 'history', 'memory', 'more', 'next', 'older', 'read', 'search', 'trail'];

async function compile(out) {
  const { error, stderr } = await asc(['--config', 'guest/asconfig.json', '--outFile', out], {
    // asc resolves its paths against the working directory: ours may be another one
    readFile: (name, base) => readOrNull(join(root, base, name)),
    writeFile: (name, contents, base) => writeFileSync(join(root, base, name), contents),
    listFiles: () => null,
  });
  if (error !== null) throw new Error(`guest: asc: ${error.message}\n${stderr.toString()}`);
}

function readOrNull(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null; // asc asks for every place a module might be
    throw error;
  }
}

async function componentOf(core) {
  _addPreopen('/wit', join(root, 'wit')); // what jco's own component may see of the disk
  const embedded = await componentEmbed({ binary: core, witPath: '/wit', world: 'tools', stringEncoding: 'utf8' });
  return componentNew(embedded, []);
}

/** The core module that a component begins with: its first section with id 1. */
function coreOf(component) {
  let at = 8;
  while (at < component.length) {
    const id = component[at];
    const [size, start] = leb(component, at + 1);
    if (id === 1) return component.subarray(start, start + size);
    at = start + size;
  }
  throw new Error('guest: the component holds no core module');
}

/** An unsigned LEB128 number, and where it ends. */
function leb(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [value, at];
  }
}

/** The largest memory a core module declares, in pages of 64 KiB; section id 5, one memory, with a maximum. */
function memoryMaxPages(core) {
  let at = 8;
  while (at < core.length) {
    const id = core[at];
    const [size, start] = leb(core, at + 1);
    if (id === 5) {
      const [count, flagsAt] = leb(core, start);
      if (count !== 1 || core[flagsAt] !== 1) throw new Error('guest: its memory declares no maximum');
      const [, maxAt] = leb(core, flagsAt + 1);
      return leb(core, maxAt)[0];
    }
    at = start + size;
  }
  throw new Error('guest: it has no memory');
}

function same(what, found, wanted) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`guest: ${what} are\n  ${a}, not\n  ${b}`);
}

function check(component, maxPages) {
  const core = coreOf(component);
  const module = new WebAssembly.Module(core);
  const names = (list) => list.map(({ module, name }) => [module, name]).sort();
  same('its imports', names(WebAssembly.Module.imports(module)), IMPORTS);
  same(
    'its exports',
    WebAssembly.Module.exports(module)
      .map(({ name }) => name)
      .sort(),
    EXPORTS,
  );
  same('its pages of memory at most', memoryMaxPages(core), maxPages);
}

async function writeReference(component, dir) {
  const { files } = await transpile(component, {
    name: 'guest',
    instantiation: { tag: 'sync' },
    noNodejsCompat: true,
    validLiftingOptimization: true,
  });
  rmSync(dir, { recursive: true, force: true });
  for (const [name, bytes] of Object.entries(files)) {
    const path = join(dir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, name === 'guest.js' ? keepingMarks(bytes) : bytes);
  }
}

/** jco's glue lifts strings with a decoder that drops a leading U+FEFF: the file's own, if it is a page's first. */
function keepingMarks(bytes) {
  const [before, after, ...more] = Buffer.from(bytes).toString().split('new TextDecoder();');
  if (after === undefined || more.length > 0) throw new Error('guest: the generated glue decodes in another way');
  return `${before}new TextDecoder('utf-8', { ignoreBOM: true });${after}`;
}

const { options } = JSON.parse(readFileSync(join(root, 'guest/asconfig.json'), 'utf8'));
mkdirSync(join(root, 'build'), { recursive: true });
mkdirSync(join(root, 'dist'), { recursive: true });
await compile('build/guest.core.wasm');
const component = await componentOf(readFileSync(join(root, 'build/guest.core.wasm')));
check(component, options.maximumMemory);
writeFileSync(join(root, 'dist/portcullis.wasm'), component);
await writeReference(component, join(root, 'build/reference'));

console.log(
  `dist/portcullis.wasm  ${component.length} bytes  sha256 ${createHash('sha256').update(component).digest('hex')}`,
);
console.log((await componentWit(component)).trimEnd());
