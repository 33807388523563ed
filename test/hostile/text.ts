/**
 * Modules in the text format: what AssemblyScript would not write. `world` gives the parts of a module that is admitted,
 * so that each text says only what is wrong with it.
 */

import binaryen from 'assemblyscript/binaryen';

const TYPES = 'wasi:filesystem/types@0.2.12';
const PREOPENS = 'wasi:filesystem/preopens@0.2.12';

/** The imports of the world, by how a text names them. */
export const IMPORTS: Readonly<Record<string, string>> = {
  preopens: `(import "${PREOPENS}" "get-directories" (func $preopens (param i32)))`,
  open: `(import "${TYPES}" "[method]descriptor.open-at" (func $open (param i32 i32 i32 i32 i32 i32 i32)))`,
  readAt: `(import "${TYPES}" "[method]descriptor.read" (func $read-at (param i32 i64 i64 i32)))`,
  list: `(import "${TYPES}" "[method]descriptor.read-directory" (func $list (param i32 i32)))`,
  entry: `(import "${TYPES}" "[method]directory-entry-stream.read-directory-entry" (func $entry (param i32 i32)))`,
  drop: `(import "${TYPES}" "[resource-drop]descriptor" (func $drop (param i32)))`,
  dropStream: `(import "${TYPES}" "[resource-drop]directory-entry-stream" (func $drop-stream (param i32)))`,
};

const I32S = (count: number): string => `(param ${Array.from({ length: count }, () => 'i32').join(' ')})`;
/** The exports of the world; each traps but realloc, which always gives the same place. */
export const EXPORTS: Readonly<Record<string, string>> = {
  memory: '(memory (export "memory") 4 16)',
  cabi_realloc: `(func (export "cabi_realloc") ${I32S(4)} (result i32) i32.const 1024)`,
  search: `(func (export "search") ${I32S(13)} (result i32) unreachable)`,
  more: '(func (export "more") (result i32) unreachable)',
  read: '(func (export "read") (param i32 i32 i64 i64 i32 i32 i32 i32 i32) (result i32) unreachable)',
  next: '(func (export "next") (result i32) unreachable)',
  history: `(func (export "history") ${I32S(9)} (result i32) unreachable)`,
  older: '(func (export "older") (result i32) unreachable)',
  trail: '(func (export "trail") (param i32 i32 i32 i32 i32 i32 i32 i64 i32 i32) (result i32) unreachable)',
  further: '(func (export "further") (result i32) unreachable)',
};

/** A search that ends with these instructions, which leave an i32. */
export const searching = (instructions: string): string =>
  `(func (export "search") ${I32S(13)} (result i32) ${instructions})`;

/** The address of an empty page, whose causes (37 of them, none counted) lie at 3072, and its ending is complete. */
export const EMPTY_PAGE = 'i32.const 2048';
const PAGE_DATA = '(data (i32.const 2084) "\\00\\0c\\00\\00\\25\\00\\00\\00\\01")';

/** The world with some of its parts replaced (by '': left out), and more of it. */
export function world(parts: Readonly<Record<string, string>> = {}, more = ''): string {
  const texts = Object.values({ ...IMPORTS, ...EXPORTS, ...parts });
  const [imports, others] = [true, false].map((isImport) =>
    texts.filter((text) => text.startsWith('(import') === isImport),
  );
  return `(module ${[...(imports ?? []), ...(others ?? []), parts['memory'] === undefined ? PAGE_DATA : '', more].join('\n')})`;
}

/** Assembles a text, every feature of WebAssembly allowed. */
export function assemble(text: string): Uint8Array {
  const module = binaryen.parseText(text);
  try {
    module.setFeatures(binaryen.Features.All);
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}

/** A component that holds a core module and nothing else. */
export function componentAround(core: Uint8Array): Uint8Array {
  return Uint8Array.from([0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00, 0x01, ...leb(core.length), ...core]);
}

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}
