/**
 * A city in memory for the judge's own tests: a `Place` small enough to be read at one glance, which counts its open
 * handles, writes down what was looked at, can fold names, and fails where it is told to.
 * The real trees have tests of their own.
 */

import type { Failure, FileOptions, Identity, LinkText, Look, OpenFile, Place } from '../../dist/judge/place.js';

export type Node =
  | { readonly kind: 'directory'; readonly names: Map<string, Node> }
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly sizeBytes?: number }
  | { readonly kind: 'link'; readonly text: string }
  | { readonly kind: 'other' };

/** A directory from an object: a string is a file's text, an object a directory, a Node itself. */
export interface Shape {
  readonly [name: string]: string | Node | Shape;
}

export const link = (text: string): Node => ({ kind: 'link', text });
export const fifo: Node = { kind: 'other' };
export const file = (bytes: Uint8Array | string, sizeBytes?: number): Node => ({
  kind: 'file',
  bytes: typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes,
  ...(sizeBytes === undefined ? {} : { sizeBytes }),
});

const isNode = (shape: Node | Shape): shape is Node => typeof shape['kind'] === 'string';

export function directory(shape: Shape): Node & { kind: 'directory' } {
  const node = ([name, child]: [string, string | Node | Shape]): [string, Node] => {
    if (typeof child === 'string') return [name, file(child)];
    return [name, isNode(child) ? child : directory(child)];
  };
  return { kind: 'directory', names: new Map(Object.entries(shape).map(node)) };
}

export type Operation = 'look' | 'directory' | 'file' | 'linkText' | 'stands' | 'read';

export class City {
  readonly root: MemoryPlace;
  readonly top: Node & { kind: 'directory' };
  /** Handles open now, but for the root. */
  open = 0;
  /** Every question about a place: operation and address. */
  readonly log: { readonly operation: Operation; readonly address: string }[] = [];
  /** Files opened with the question where they are now. */
  readonly placed: string[] = [];
  /** `operation address` → what it fails with. */
  readonly failures = new Map<string, Failure>();
  /** Called before each question is answered: to swap things meanwhile. */
  before: (operation: Operation, address: string) => void = () => {};
  readonly fold: (name: string) => string;
  readonly #inodes = new Map<Node, bigint>();

  constructor(shape: Shape, fold: (name: string) => string = (name) => name) {
    this.top = directory(shape);
    this.fold = fold;
    this.root = new MemoryPlace(this, this.top, '');
  }

  identity(node: Node): Identity {
    const inode = this.#inodes.get(node) ?? BigInt(this.#inodes.size + 1);
    this.#inodes.set(node, inode);
    return { device: 1n, inode };
  }

  /** The node at a plain path, links not followed. */
  at(path: string): Node | undefined {
    let node: Node | undefined = this.top;
    for (const name of path.split('/')) node = node?.kind === 'directory' ? node.names.get(name) : undefined;
    return node;
  }

  ask(operation: Operation, address: string): Failure | undefined {
    this.log.push({ operation, address });
    this.before(operation, address);
    return this.failures.get(`${operation} ${address}`);
  }
}

export class MemoryPlace implements Place<MemoryPlace> {
  readonly identity: Identity;
  readonly #city: City;
  readonly #node: Node & { kind: 'directory' };
  readonly #address: string;
  #closed = false;

  constructor(city: City, node: Node & { kind: 'directory' }, address: string) {
    this.#city = city;
    this.#node = node;
    this.#address = address;
    this.identity = city.identity(node);
    if (address !== '') city.open++;
  }

  look(name: string): Look | Failure {
    const node = this.#ask('look', name);
    if (typeof node === 'string') return node;
    const sizeBytes = node.kind === 'file' ? (node.sizeBytes ?? node.bytes.length) : 0;
    return { kind: node.kind, identity: this.#city.identity(node), sizeBytes, modifiedNs: 0n, changedNs: 0n };
  }

  directory(name: string): MemoryPlace | Failure {
    const node = this.#ask('directory', name);
    if (typeof node === 'string') return node;
    if (node.kind === 'link') return 'is-link';
    return node.kind === 'directory' ? new MemoryPlace(this.#city, node, this.#at(name)) : 'not-directory';
  }

  file(name: string, options?: FileOptions): OpenFile | Failure {
    if (options?.placed) this.#city.placed.push(this.#at(name));
    const node = this.#ask('file', name);
    if (typeof node === 'string') return node;
    if (node.kind === 'link') return 'is-link';
    if (node.kind === 'directory') return 'is-directory';
    return node.kind === 'file' ? this.#open(node, this.#at(name)) : 'not-regular';
  }

  linkText(name: string): LinkText | Failure {
    const node = this.#ask('linkText', name);
    if (typeof node === 'string') return node;
    return node.kind === 'link' ? { text: node.text } : 'moved';
  }

  stands(name: string): boolean | Failure {
    const node = this.#ask('stands', name);
    if (node === 'no-entry') return false;
    return typeof node === 'string' ? node : this.#node.names.has(name);
  }

  close(): void {
    if (!this.#closed && this.#address === '') throw new Error('the root is not the resolver’s to close');
    if (!this.#closed) this.#city.open--;
    this.#closed = true;
  }

  #at(name: string): string {
    return this.#address === '' ? name : `${this.#address}/${name}`;
  }

  #ask(operation: Operation, name: string): Node | Failure {
    if (this.#closed) throw new Error(`a closed handle was asked to ${operation}`);
    if (name === '' || name === '.' || name === '..' || name.includes('/')) throw new Error(`no segment: ${name}`);
    if (new TextEncoder().encode(name).length > 255) return 'bad-name';
    const failure = this.#city.ask(operation, this.#at(name));
    if (failure !== undefined) return failure;
    const exact = this.#node.names.get(name);
    if (exact !== undefined) return exact;
    const { fold } = this.#city;
    for (const [listed, node] of this.#node.names) if (fold(listed) === fold(name)) return node;
    return 'no-entry';
  }

  #open(node: Node & { kind: 'file' }, address: string): OpenFile {
    const city = this.#city;
    city.open++;
    let closed = false;
    return {
      identity: () => city.identity(node),
      sizeBytes: node.sizeBytes ?? node.bytes.length,
      read(into, offset) {
        const failure = city.ask('read', address);
        if (failure !== undefined) return failure;
        // Short reads, so that whoever stops after one read is found out.
        const part = node.bytes.subarray(offset, offset + Math.min(into.length, 1_000));
        into.set(part);
        return part.length;
      },
      close() {
        if (!closed) city.open--;
        closed = true;
      },
    };
  }
}
