/**
 * Admitting the component: what runs is the core module cut out of the component that ships, and it runs only if it
 * imports exactly what the fixed world gives and exports what the host calls, each as a function of the world's type, has
 * one memory with a maximum and no table beyond its limit. Nothing here runs guest code.
 *
 * The engine checks no type here: an import that is a JavaScript function takes whatever the module says it hands over,
 * and of an export it tells that it is a function, no more. So the binary's own sections are read.
 */

import { blake3 } from 'hash-wasm';
import { GUEST_MEMORY_MAX_PAGES, GUEST_TABLE_MAX } from '../limits.js';
import { WORLD_IMPORTS } from '../wasi/world.js';

/** An admitted component. The module is compiled and can be posted to workers. */
export interface Component {
  readonly module: WebAssembly.Module;
  /** BLAKE3 of the whole component, 64 hex digits: what is pinned. */
  readonly hash: string;
  /** `module name`, sorted. */
  readonly imports: readonly string[];
  readonly memoryMaxPages: number;
}

const COMPONENT_PREAMBLE = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
const CORE_MODULE_SECTION = 1;
/** Sections of a core module. */
const SECTION = { type: 1, import: 2, function: 3, table: 4, memory: 5, export: 7 } as const;
/** What an import or export is. */
const FUNCTION = 0;
const MEMORY = 2;

/** Types of functions as the binary has them: i for i32, l for i64; what goes in, what comes out. */
const EXPORT_TYPES: Readonly<Record<string, string>> = {
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
const IMPORT_TYPES: Readonly<Record<string, string>> = {
  'get-directories': 'i>',
  '[method]descriptor.open-at': 'iiiiiii>',
  '[method]descriptor.read': 'illi>',
  '[method]descriptor.read-directory': 'ii>',
  '[method]directory-entry-stream.read-directory-entry': 'ii>',
  '[resource-drop]descriptor': 'i>',
  '[resource-drop]directory-entry-stream': 'i>',
};

/** Checks and compiles. Throws an `Error` for anything but our own guest: a wrong component is a broken installation. */
export async function admitComponent(component: Uint8Array): Promise<Component> {
  const core = cutCore(component);
  const module = await WebAssembly.compile(new Uint8Array(core));
  const shape = shapeOf(core);
  const imports = WebAssembly.Module.imports(module)
    .map((wanted) => `${wanted.module} ${wanted.name}`)
    .sort();
  if (imports.length !== WORLD_IMPORTS.length || !imports.every((name, index) => name === WORLD_IMPORTS[index]))
    throw new Error('component: its imports are not the promised ones');
  if (!shape.imports.every(({ name, type }) => type === IMPORT_TYPES[name]))
    throw new Error('component: it imports a function by another type');
  for (const [name, type] of Object.entries(EXPORT_TYPES)) {
    if (shape.exports.get(name) !== type) throw new Error(`component: it does not export ${name} as the world has it`);
  }
  if (shape.exports.get('memory') !== 'memory') throw new Error('component: it does not export memory');
  if (!shape.tablesFit) throw new Error('component: it has a table without a maximum within the limit');
  const { memoryMaxPages } = shape;
  if (memoryMaxPages === undefined || memoryMaxPages > GUEST_MEMORY_MAX_PAGES) {
    throw new Error('component: it does not declare a maximum memory within the limit');
  }
  return { module, hash: await blake3(component), imports, memoryMaxPages };
}

/** What of a core module the engine does not tell. The engine has validated it by now. */
interface Shape {
  readonly imports: readonly { readonly name: string; readonly type: string }[];
  /** Name → type of the function, or `memory`, or `other`. */
  readonly exports: ReadonlyMap<string, string>;
  /** Of the one memory it defines, in pages; undefined unless it is one, not shared, of 32 bits, with a maximum. */
  readonly memoryMaxPages: number | undefined;
  readonly tablesFit: boolean;
}

/** Throws for what the world has no use for: types that are no functions, imports that are none. */
function shapeOf(core: Uint8Array): Shape {
  const bodies = new Map<number, Uint8Array>();
  for (const { id, body } of sections(core)) bodies.set(id, body);
  const list = <T>(id: number, read: (reader: Reader) => T): T[] => {
    const body = bodies.get(id);
    if (body === undefined) return [];
    const reader = new Reader(body);
    return Array.from({ length: reader.u32() }, () => read(reader));
  };
  const types = list(SECTION.type, functionType);
  const imports = list(SECTION.import, (reader) => ({ ...importedFunction(reader), type: types[reader.u32()] ?? '' }));
  const functions = [
    ...imports.map(({ type }) => type),
    ...list(SECTION.function, (reader) => types[reader.u32()] ?? ''),
  ];
  const exports = list(SECTION.export, (reader): [string, string] => {
    const [name, kind, index] = [reader.name(), reader.byte(), reader.u32()];
    if (kind === FUNCTION) return [name, functions[index] ?? ''];
    return [name, kind === MEMORY ? 'memory' : 'other'];
  });
  const [memory, ...more] = list(SECTION.memory, limitsOf);
  const isPlain = memory !== undefined && more.length === 0 && memory.flags === HAS_MAXIMUM;
  return {
    imports,
    exports: new Map(exports),
    memoryMaxPages: isPlain ? memory.maximum : undefined,
    tablesFit: tableMaximums(list(SECTION.table, tableLimits)) <= GUEST_TABLE_MAX,
  };
}

const HAS_MAXIMUM = 1;
const FUNCTION_TYPE = 0x60;
const VALUE_TYPES: Readonly<Record<number, string>> = { 127: 'i', 126: 'l' };

/** `i…>…`; a value that no function of the world has is `?`. */
function functionType(reader: Reader): string {
  if (reader.byte() !== FUNCTION_TYPE) throw new Error('component: it has a type that is no function');
  const values = (): string => Array.from({ length: reader.u32() }, () => VALUE_TYPES[reader.byte()] ?? '?').join('');
  return `${values()}>${values()}`;
}

function importedFunction(reader: Reader): { readonly name: string } {
  reader.name();
  const name = reader.name();
  if (reader.byte() !== FUNCTION) throw new Error('component: it imports what is no function');
  return { name };
}

function limitsOf(reader: Reader): { readonly flags: number; readonly maximum: number | undefined } {
  const flags = reader.byte();
  reader.u32();
  return { flags, maximum: (flags & HAS_MAXIMUM) === 0 ? undefined : reader.u32() };
}

const FUNCTION_REFERENCE = 0x70;
function tableLimits(reader: Reader): number | undefined {
  if (reader.byte() !== FUNCTION_REFERENCE) throw new Error('component: it has a table of anything but functions');
  const { flags, maximum } = limitsOf(reader);
  return flags === HAS_MAXIMUM ? maximum : undefined;
}

const tableMaximums = (maximums: readonly (number | undefined)[]): number =>
  maximums.reduce<number>((sum, each) => sum + (each ?? Number.POSITIVE_INFINITY), 0);

/** The first core module of a component: a view on its bytes. Throws if there is none. */
export function cutCore(component: Uint8Array): Uint8Array {
  if (!COMPONENT_PREAMBLE.every((byte, index) => component[index] === byte))
    throw new Error('component: not a component');
  for (const section of sections(component)) if (section.id === CORE_MODULE_SECTION) return section.body;
  throw new Error('component: it holds no core module');
}

function* sections(binary: Uint8Array): Generator<{ readonly id: number; readonly body: Uint8Array }> {
  const reader = new Reader(binary, COMPONENT_PREAMBLE.length);
  while (!reader.done) {
    const id = reader.byte();
    yield { id, body: reader.take(reader.u32()) };
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  #at: number;
  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }
  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }
  byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new Error('component: it ends too early');
    return byte;
  }
  /** LEB128, unsigned, 32 bits. */
  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new Error('component: a number is too long');
  }
  /** A vector of bytes, as text. */
  name(): string {
    return new TextDecoder().decode(this.take(this.u32()));
  }
  take(size: number): Uint8Array {
    if (size > this.#bytes.length - this.#at) throw new Error('component: it ends too early');
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}
