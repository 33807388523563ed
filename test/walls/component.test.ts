/**
 * The component and its world: what is built is what is pinned, what runs is what is inside it, and nothing else is
 * admitted. The pin is wit/component.json; a change of the guest that is meant to ship is pinned again with
 * `node test/pin.mjs`.
 */

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';

import { GUEST_MEMORY_MAX_PAGES } from '../../dist/limits.js';
import { admitComponent, type Component, cutCore } from '../../dist/runner/component.js';
import { WORLD_IMPORTS } from '../../dist/wasi/world.js';

const SHIPPED = 'dist/portcullis.wasm';
const shipped = fs.readFileSync(SHIPPED);
const pin = JSON.parse(fs.readFileSync('wit/component.json', 'utf8'));

const READ_ONLY = [
  'wasi:filesystem/preopens@0.2.12 get-directories',
  'wasi:filesystem/types@0.2.12 [method]descriptor.open-at',
  'wasi:filesystem/types@0.2.12 [method]descriptor.read',
  'wasi:filesystem/types@0.2.12 [method]descriptor.read-directory',
  'wasi:filesystem/types@0.2.12 [method]directory-entry-stream.read-directory-entry',
  'wasi:filesystem/types@0.2.12 [resource-drop]descriptor',
  'wasi:filesystem/types@0.2.12 [resource-drop]directory-entry-stream',
];

const EXPORTS = ['cabi_realloc', 'search', 'more', 'read', 'next', 'history', 'older', 'trail', 'further'];

describe('the component that ships', () => {
  let component: Component;
  beforeAll(async () => {
    component = await admitComponent(shipped);
  });

  it('is the pinned one (a change that is meant: node test/pin.mjs)', () => {
    const { hash, imports, memoryMaxPages } = component;
    expect({ hash, imports, memoryMaxPages, bytes: shipped.length }).toEqual(pin);
  });

  it('imports exactly these functions, none of which changes anything', () => {
    expect(component.imports).toEqual(READ_ONLY);
    expect(WORLD_IMPORTS).toEqual(READ_ONLY);
  });

  it('declares its largest memory, within the limit', () => {
    expect(component.memoryMaxPages).toBe(pin.memoryMaxPages);
    expect(component.memoryMaxPages).toBeLessThanOrEqual(GUEST_MEMORY_MAX_PAGES);
  });

  it('holds the core module that runs: the first one cut out of it, byte for byte', () => {
    const core = cutCore(shipped);
    expect(WebAssembly.validate(new Uint8Array(core))).toBe(true);
    expect(shipped.includes(Buffer.from(core))).toBe(true);
    expect(Buffer.from(core).equals(fs.readFileSync('build/guest.core.wasm'))).toBe(false); // embedding adds to it
    const exported = WebAssembly.Module.exports(component.module).map(({ name }) => name);
    expect(exported.sort()).toEqual([...EXPORTS, 'memory'].sort());
  });

  it('is the same bytes when it is built again, from clean, in another directory', { timeout: 120_000 }, () => {
    const place = fs.mkdtempSync('build/again-');
    try {
      for (const part of ['guest', 'wit']) fs.cpSync(part, `${place}/${part}`, { recursive: true });
      execFileSync(process.execPath, ['guest/build.mjs'], { cwd: place, stdio: 'pipe' });
      expect(fs.readFileSync(`${place}/${SHIPPED}`).equals(shipped)).toBe(true);
    } finally {
      fs.rmSync(place, { recursive: true, force: true });
    }
  });
});

// ---- binaries made by hand ----

/** A number in LEB128. */
function leb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}
const text = (value: string): number[] => {
  const bytes = [...new TextEncoder().encode(value)];
  return [...leb(bytes.length), ...bytes];
};
const vector = (items: readonly (readonly number[])[]): number[] => [...leb(items.length), ...items.flat()];
const section = (id: number, body: readonly number[]): number[] => [id, ...leb(body.length), ...body];

interface Made {
  readonly imports?: readonly string[];
  readonly exports?: readonly string[];
  /** In pages; null: declares none. */
  readonly memoryMax?: number | null;
  readonly memories?: number;
  /** Its start function traps. */
  readonly traps?: true;
}

const WORLD = READ_ONLY.map((name) => name.split(' ') as [string, string]); // each is `module name`

/** i for i32, l for i64: what goes in, what comes out; of a name that the world does not have, nothing. */
const TYPES: Readonly<Record<string, string>> = {
  'get-directories': 'i>',
  '[method]descriptor.open-at': 'iiiiiii>',
  '[method]descriptor.read': 'illi>',
  '[method]descriptor.read-directory': 'ii>',
  '[method]directory-entry-stream.read-directory-entry': 'ii>',
  '[resource-drop]descriptor': 'i>',
  '[resource-drop]directory-entry-stream': 'i>',
  cabi_realloc: 'iiii>i',
  search: 'iiiiiiiiiiiii>i',
  more: '>i',
  read: 'iilliiiii>i',
  next: '>i',
  history: 'iiiiiiiii>i',
  older: '>i',
  trail: 'iiiiiiilii>i',
  further: '>i',
};
function typeOf(name: string): number[] {
  const [given = '', got = ''] = (TYPES[name] ?? '>').split('>');
  const values = (letters: string) => vector(Array.from(letters, (letter) => [letter === 'l' ? 0x7e : 0x7f]));
  return [0x60, ...values(given), ...values(got)];
}

/** A core module with the world's types, each function a trap; and one more, `() → ()`, to start with. */
function core({ imports = READ_ONLY, exports = EXPORTS, memoryMax = 16, memories = 1, traps }: Made): number[] {
  const wanted = imports === READ_ONLY ? WORLD : imports.map((name) => name.split(' ') as [string, string]);
  const limits = memoryMax === null ? [0, ...leb(1)] : [1, ...leb(1), ...leb(memoryMax)];
  const names = [...wanted.map(([, name]) => name), ...exports, ''];
  const start = names.length - 1;
  const given = exports.map((name, index) => [...text(name), 0, ...leb(wanted.length + index)]);
  const memory = memories > 0 ? [[...text('memory'), 2, 0]] : [];
  return [
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, vector(names.map(typeOf))),
    ...section(2, vector(wanted.map(([module, name], index) => [...text(module), ...text(name), 0, ...leb(index)]))),
    ...section(3, vector(names.slice(wanted.length).map((_, index) => leb(wanted.length + index)))),
    ...(memories > 0 ? section(5, vector(Array.from({ length: memories }, () => limits))) : []),
    ...section(7, vector([...memory, ...given])),
    ...(traps ? section(8, leb(start)) : []),
    ...section(10, vector(names.slice(wanted.length).map(() => [3, 0, 0x00, 0x0b]))),
  ];
}

const PREAMBLE = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
const component = (...cores: readonly (readonly number[])[]): Uint8Array =>
  new Uint8Array([...PREAMBLE, ...cores.flatMap((bytes) => section(1, bytes))]);

const EVIL = "x']; globalThis.portcullisWasHere = true; //";
const without = <T>(list: readonly T[], gone: T): T[] => list.filter((item) => item !== gone);
const [FIRST = ''] = READ_ONLY;

describe('what is admitted', () => {
  it('a module of exactly this world, whoever made it', async () => {
    const { imports, memoryMaxPages } = await admitComponent(component(core({})));
    expect({ imports, memoryMaxPages }).toEqual({ imports: READ_ONLY, memoryMaxPages: 16 });
  });

  it.each([
    [
      'one import more',
      { imports: [...READ_ONLY, 'wasi:filesystem/types@0.2.12 [method]descriptor.write'] },
      'imports',
    ],
    ['one import less', { imports: without(READ_ONLY, FIRST) }, 'imports'],
    ['one import twice', { imports: [...READ_ONLY, FIRST] }, 'imports'],
    ['a clock', { imports: [...READ_ONLY, 'wasi:clocks/wall-clock@0.2.12 now'] }, 'imports'],
    ['an exit', { imports: [...READ_ONLY, 'wasi:cli/exit@0.2.12 exit'] }, 'imports'],
    ['another version', { imports: READ_ONLY.map((name) => name.replace('0.2.12', '0.2.0')) }, 'imports'],
    ['no import at all', { imports: [] }, 'imports'],
    ['JavaScript as the name of an import', { imports: [...READ_ONLY, `env ${EVIL}`] }, 'imports'],
    ['JavaScript as the name of a module', { imports: [...READ_ONLY, `${EVIL} f`] }, 'imports'],
    ['an export less', { exports: without(EXPORTS, 'search') }, 'export'],
    ['no memory', { memories: 0 }, 'export memory'],
    ['a memory without a maximum', { memoryMax: null }, 'maximum memory'],
    ['a memory over the limit', { memoryMax: GUEST_MEMORY_MAX_PAGES + 1 }, 'maximum memory'],
  ] as const)('not %s', async (_, made: Made, said) => {
    await expect(admitComponent(component(core(made)))).rejects.toThrow(said);
    expect(globalThis).not.toHaveProperty('portcullisWasHere');
  });

  it.each([
    ['a core module without a component around it', new Uint8Array(core({}))],
    ['an empty component', component()],
    ['nothing', new Uint8Array()],
    ['a section longer than the component', new Uint8Array([...PREAMBLE, 1, 0xff, 0xff, 0xff, 0xff, 0x0f])],
    ['a section whose size does not end', new Uint8Array([...PREAMBLE, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80])],
    ['a module that is cut', new Uint8Array([...PREAMBLE, ...section(1, core({}).slice(0, 40))])],
  ])('not %s', async (_, bytes) => {
    await expect(admitComponent(bytes)).rejects.toThrow(Error);
  });

  it('runs the first core module, whatever stands behind it', async () => {
    const { imports } = await admitComponent(component(core({}), core({ imports: [`env ${EVIL}`] })));
    expect(imports).toEqual(READ_ONLY);
    await expect(admitComponent(component(core({ imports: [] }), core({})))).rejects.toThrow('imports');
  });

  it('runs nothing of the guest while it is admitted: its start function would trap', async () => {
    const { module } = await admitComponent(component(core({ traps: true })));
    expect(() => new WebAssembly.Instance(module, importsOf(module))).toThrow(WebAssembly.RuntimeError);
  });
});

/** Functions that do nothing, for everything a module wants. */
function importsOf(module: WebAssembly.Module): WebAssembly.Imports {
  const given: Record<string, Record<string, () => void>> = {};
  for (const wanted of WebAssembly.Module.imports(module)) {
    given[wanted.module] = { ...given[wanted.module], [wanted.name]: () => {} };
  }
  return given;
}
