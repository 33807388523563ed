/**
 * Admitting the component: what runs is the core module cut out of the component that ships, and it runs only if it
 * imports exactly what the fixed world gives, exports what the host calls, and declares its maximum memory.
 * Nothing here runs guest code.
 */

import { blake3 } from 'hash-wasm';
import { GUEST_MEMORY_MAX_PAGES } from '../limits.js';
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
const MEMORY_SECTION = 5;
const WORLD_EXPORTS = ['cabi_realloc', 'memory', 'more', 'next', 'read', 'search'];

/** Checks and compiles. Throws an `Error` for anything but our own guest: a wrong component is a broken installation. */
export async function admitComponent(component: Uint8Array): Promise<Component> {
  const core = cutCore(component);
  const module = await WebAssembly.compile(new Uint8Array(core));
  const imports = WebAssembly.Module.imports(module)
    .map((wanted) => `${wanted.module} ${wanted.name}`)
    .sort();
  if (imports.join('\n') !== WORLD_IMPORTS.join('\n'))
    throw new Error('component: its imports are not the promised ones');
  const exports = new Set(WebAssembly.Module.exports(module).map((given) => given.name));
  const missing = WORLD_EXPORTS.filter((name) => !exports.has(name));
  if (missing.length > 0) throw new Error(`component: it does not export ${missing.join(', ')}`);
  const memoryMaxPages = declaredMemoryMax(core);
  if (memoryMaxPages === undefined || memoryMaxPages > GUEST_MEMORY_MAX_PAGES) {
    throw new Error('component: it does not declare a maximum memory within the limit');
  }
  return { module, hash: await blake3(component), imports, memoryMaxPages };
}

/** The first core module of a component: a view on its bytes. Throws if there is none. */
export function cutCore(component: Uint8Array): Uint8Array {
  if (!COMPONENT_PREAMBLE.every((byte, index) => component[index] === byte))
    throw new Error('component: not a component');
  for (const section of sections(component)) if (section.id === CORE_MODULE_SECTION) return section.body;
  throw new Error('component: it holds no core module');
}

/** The maximum of the one memory a core module defines, in pages; undefined if it declares none. */
function declaredMemoryMax(core: Uint8Array): number | undefined {
  for (const { id, body } of sections(core)) {
    if (id !== MEMORY_SECTION) continue;
    const reader = new Reader(body);
    const [count, flags] = [reader.u32(), reader.u32()];
    reader.u32();
    return count === 1 && (flags & 1) === 1 ? reader.u32() : undefined;
  }
  return undefined;
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
  take(size: number): Uint8Array {
    if (size > this.#bytes.length - this.#at) throw new Error('component: it ends too early');
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}
