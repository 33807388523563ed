/**
 * The reference binding: the same component through jco's generated glue, with plain classes over the same
 * filesystem.ts. The tests run every contract over it and over the fixed world, and compare. It runs our own guest
 * only, never a hostile one: the glue repairs invalid UTF-8 and forges objects for bogus handles.
 *
 * Only this directory throws what is no Error: jco's spelling of a WIT `err` is a thrown value.
 */

import type { Kind } from '../tree/tree.js';
import type { ErrorCode } from './codes.js';
import type { Filesystem } from './filesystem.js';
import type {
  Ending,
  GitFault,
  Guest,
  History,
  HistoryEnding,
  HistoryPage,
  HistoryQuery,
  Interval,
  Looks,
  Page,
  Query,
  Reading,
  Trail,
  TrailEnding,
  TrailPage,
  TrailQuery,
} from './guest.js';
import { type Handle, isCode } from './handles.js';

/** What jco's generated module exports with `instantiation: sync`. */
export type Instantiate = (
  core: (path: string) => WebAssembly.Module,
  imports: Record<string, unknown>,
  instantiateCore?: (module: WebAssembly.Module, imports: WebAssembly.Imports) => WebAssembly.Instance,
) => GeneratedExports;

/** The generated exports: WIT records with camel-case names. */
export interface GeneratedExports {
  search(query: Query): GeneratedPage;
  more(): GeneratedPage;
  read(interval: Interval): GeneratedReading;
  next(): GeneratedReading;
  history(query: HistoryQuery): GeneratedHistory;
  older(): GeneratedHistory;
  trail(query: Omit<TrailQuery, 'blobMax'> & { readonly blobMax: bigint }): GeneratedTrail;
  further(): GeneratedTrail;
}

type GeneratedHistory = Omit<HistoryPage, 'ending'> & { readonly ending: string };
type GeneratedTrail = Omit<TrailPage, 'blobSize' | 'ending'> & { readonly blobSize: bigint; readonly ending: string };

interface GeneratedPage {
  readonly hits: Page['hits'];
  readonly unread: readonly { readonly path: string; readonly cause: string }[];
  readonly coverage: Omit<Page['coverage'], 'causes'> & { readonly causes: Iterable<number> };
  readonly ending: string;
}

type GeneratedReading =
  | { readonly tag: 'going'; readonly val: bigint }
  | {
      readonly tag: 'done';
      readonly val: {
        readonly text: string;
        readonly lines: number;
        readonly totalLines: bigint;
        readonly more: boolean;
        readonly cut?: { readonly nextByte: bigint; readonly cutBytes: bigint };
      };
    }
  | { readonly tag: 'not-text'; readonly val: string }
  | { readonly tag: 'past-line' | 'inside-character' }
  | { readonly tag: 'failed'; readonly val: string };

const KIND_NAMES: Readonly<Record<Kind | 'unknown', string>> = {
  unknown: 'unknown',
  other: 'unknown',
  directory: 'directory',
  link: 'symbolic-link',
  file: 'regular-file',
};

/** What the generated glue imports, over one call's file system. */
export function referenceImports(filesystem: Filesystem): Record<string, unknown> {
  const handles = new WeakMap<object, Handle>();
  const handleOf = (wrapper: object): Handle => {
    const handle = handles.get(wrapper);
    if (handle === undefined) throw new Error('a handle this binding did not make');
    return handle;
  };
  const wrap = <W extends object>(wrapper: W, handle: Handle): W => {
    handles.set(wrapper, handle);
    return wrapper;
  };

  class DirectoryEntryStream {
    readDirectoryEntry(): { type: string; name: string } | undefined {
      const entry = filesystem.readEntry(handleOf(this));
      if (isCode(entry)) throw entry;
      return entry && { type: KIND_NAMES[entry.kind], name: entry.nameable ? entry.name : `\0${entry.name}` };
    }
    [disposeSymbol](): void {
      filesystem.drop(handleOf(this));
    }
  }

  class Descriptor {
    openAt(pathFlags: Flags, path: string, openFlags: Flags, flags: Flags): Descriptor {
      const opened = filesystem.openAt(handleOf(this), {
        follow: pathFlags['symlinkFollow'] === true,
        path,
        directory: openFlags['directory'] === true,
        mutates: CHANGING.some((name) => openFlags[name] === true || flags[name] === true),
      });
      if (isCode(opened)) throw opened;
      return wrap(new Descriptor(), opened);
    }
    read(length: bigint, offset: bigint): [Uint8Array, boolean] {
      const from = handleOf(this);
      const size = filesystem.readLength(from, clampNumber(length));
      const into = new Uint8Array(size);
      const got = filesystem.read(from, into, clampNumber(offset));
      if (isCode(got)) throw got;
      return [into.subarray(0, got.bytes), got.end];
    }
    readDirectory(): DirectoryEntryStream {
      const stream = filesystem.readDirectory(handleOf(this));
      if (isCode(stream)) throw stream;
      return wrap(new DirectoryEntryStream(), stream);
    }
    [disposeSymbol](): void {
      filesystem.drop(handleOf(this));
    }
  }

  const getDirectories = (): [Descriptor, string][] => {
    const opened = filesystem.preopened();
    return isCode(opened) ? [] : [[wrap(new Descriptor(), opened.handle), opened.name]];
  };
  return {
    'wasi:filesystem/preopens': { getDirectories },
    'wasi:filesystem/types': { Descriptor, DirectoryEntryStream },
  };
}

type Flags = Readonly<Record<string, boolean | undefined>>;
const CHANGING = [
  'create',
  'exclusive',
  'truncate',
  'write',
  'mutateDirectory',
  'fileIntegritySync',
  'dataIntegritySync',
  'requestedWriteSync',
];
// Node 20 has it; declared here because the compiler's library for our target does not.
const disposeSymbol: unique symbol = ((Symbol as { dispose?: symbol }).dispose ?? Symbol.for('dispose')) as never;
const clampNumber = (value: bigint): number =>
  Number(value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : value);

/** The same `Guest` as the fixed world gives, carried by the generated glue. */
export function referenceGuest(generated: GeneratedExports): Guest {
  return {
    search: (query) => liftPage(generated.search(query)),
    more: () => liftPage(generated.more()),
    read: (interval) => liftReading(generated.read(interval)),
    next: () => liftReading(generated.next()),
    history: (query) => liftHistory(() => generated.history(query)),
    older: () => liftHistory(() => generated.older()),
    trail: (query) => liftTrail(() => generated.trail({ ...query, blobMax: BigInt(query.blobMax) })),
    further: () => liftTrail(() => generated.further()),
    memoryBytes: () => 0,
  };
}

function liftPage(page: GeneratedPage): Page {
  return {
    hits: page.hits,
    unread: page.unread.map(({ path, cause }) => ({ path, cause: cause as ErrorCode })),
    coverage: { ...page.coverage, causes: [...page.coverage.causes] },
    ending: page.ending as Ending,
  };
}

function liftReading(reading: GeneratedReading): Reading {
  switch (reading.tag) {
    case 'going':
      return { kind: 'going', bytes: Number(reading.val) };
    case 'done': {
      const { text, lines, totalLines, more, cut } = reading.val;
      const lifted = cut && { nextByte: Number(cut.nextByte), cutBytes: Number(cut.cutBytes) };
      return { kind: 'done', slice: { text, lines, totalLines: Number(totalLines), more, cut: lifted } };
    }
    case 'not-text':
      return { kind: 'not-text', looks: reading.val as Looks };
    case 'failed':
      return { kind: 'failed', code: reading.val as ErrorCode };
    case 'past-line':
    case 'inside-character':
      return { kind: reading.tag };
  }
}

/** A WIT `err` is thrown by the glue, with what it carries as `payload`. Anything else is a trap or a bug, and goes on. */
function faultOf(thrown: unknown): GitFault {
  if (thrown instanceof Error && 'payload' in thrown) return thrown.payload as GitFault;
  throw thrown;
}

function liftHistory(call: () => GeneratedHistory): History {
  try {
    const page = call();
    return { ok: true, page: { ...page, ending: page.ending as HistoryEnding } };
  } catch (thrown) {
    return { ok: false, fault: faultOf(thrown) };
  }
}

function liftTrail(call: () => GeneratedTrail): Trail {
  try {
    const page = call();
    return { ok: true, page: { ...page, blobSize: Number(page.blobSize), ending: page.ending as TrailEnding } };
  } catch (thrown) {
    return { ok: false, fault: faultOf(thrown) };
  }
}
