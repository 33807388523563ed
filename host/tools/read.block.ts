/**
 * `read` of a block: the guest's only directory holds exactly the one block that was judged, or of a range exactly those
 * bytes. Stands between read.locator.ts, which parsed the Locator, and interval.ts, which cuts.
 *
 * A range selects, and what it selects is then read like any file: `offset`, `limit` and `byte` count in it.
 * Spec: locators-and-catalog, "Reading a Locator".
 */

import { type Asked, type Outcome, refused } from '../error.js';
import type { Address } from '../judge/address.js';
import { denied } from '../judge/admit.js';
import type { Locator, LocatorRange } from '../judge/locator.js';
import { READ_WHOLE_MAX_BYTES } from '../limits.js';
import type { Call } from '../runner/call.js';
import { Blocks, isFault, nameFor, type StoreFault } from '../store/blocks.js';
import { blockRoom } from '../store/layout.js';
import { spanOf } from '../store/span.js';
import { below } from '../tree/below.js';
import { failed, type Look, sameIdentity, type Tree } from '../tree/tree.js';
import { type Span, windowOn } from '../tree/window.js';
import { cutInterval, type Interval, type IntervalValue, type Source } from './interval.js';
import { judgedAt } from './judged-at.js';
import { storeError } from './store-error.js';

type Cas = Extract<Locator, { kind: 'cas' }>;

/** Reads a block, or a range of one. One pass over it where it is asked whole; flat memory. */
export async function readBlock(
  call: Call,
  at: Asked,
  asked: Interval,
  { hash, range }: Cas,
): Promise<Outcome<IntervalValue>> {
  const judged = await judgedAt(call, at, hash);
  if (!judged.ok) return judged;
  const { tree, origin } = judged.value;
  const room = below(tree, blockRoom(hash));
  if (failed(room)) return refused(storeError(call, at, room));
  try {
    const denial = call.judgedIn(room, placeOf(hash)).bound.judge(hash);
    if (denial !== undefined) return refused(denied(at, denial));
    const found = foundIn(call, room, hash, range);
    if (isFault(found)) return refused(storeError(call, at, found));
    return await cutInterval(call, at, asked, sourceIn({ store: tree, room, hash, origin, ...found }));
  } finally {
    room.close();
  }
}

const placeOf = (hash: string): string => blockRoom(hash).join('/');

interface Found {
  readonly look: Look;
  /** Undefined: the block as it is. */
  readonly span: Span | undefined;
}

function foundIn(call: Call, { root }: Tree, hash: string, range: LocatorRange | undefined): Found | StoreFault {
  const there = nameFor(root, hash);
  if (there !== 'file') return there;
  const look = root.look(hash);
  if (failed(look)) return look;
  if (range === undefined) return { look, span: undefined };
  const file = root.file(hash, { placed: true });
  if (failed(file)) return file;
  const { meter } = call;
  const span = spanOf(file, range, {
    mayRead: () => meter.mayRead(undefined) === undefined,
    read: (bytes) => meter.read(bytes, undefined),
  });
  file.close();
  if (isFault(span)) return span;
  return { look, span: span.start === 0 && span.end === look.sizeBytes ? undefined : span };
}

interface At extends Found {
  readonly store: Tree;
  readonly room: Tree;
  readonly hash: string;
  readonly origin: Address;
}

/** The one block, with everything wall 2 needs to open that and nothing else. */
function sourceIn({ store, room, hash, origin, look, span }: At): Source {
  const place = placeOf(hash);
  const sizeBytes = span === undefined ? look.sizeBytes : span.end - span.start;
  const isHeld = span === undefined && sizeBytes <= READ_WHOLE_MAX_BYTES;
  return {
    guest: {
      tree: span === undefined ? room : windowOn(room, hash, span),
      place,
      under: origin,
      handed: { kind: 'block', landed: `${place}/${hash}` },
      preopen: { kind: 'single', shown: '', name: hash, path: hash },
      // The very thing that was looked at, and not only one of its name: a range of another is held against no hash.
      stillJudged: (identity) => sameIdentity(identity, look.identity) && isUnchanged(room, hash, look),
    },
    sizeBytes,
    versioned: false,
    ...(isHeld && { mustBe: { hash, holds: () => holds(store, hash) } }),
    ...(span !== undefined && { note: NOTE_RANGE }),
    isElsewhere: () => nameFor(room.root, hash) !== 'file',
  };
}

const NOTE_RANGE = 'only this range was read: nothing says that the block hashes to its name';

/** A disk gives the number of what was removed to what is made next: its times tell them apart. */
function isUnchanged({ root }: Tree, hash: string, before: Look): boolean {
  const now = root.look(hash);
  return !failed(now) && now.changedNs === before.changedNs && now.sizeBytes === before.sizeBytes;
}

/** A block that is too large to be asked whole is taken for what it says: it is refused in any case. */
async function holds(store: Tree, hash: string): Promise<boolean> {
  return (await new Blocks(store).get(hash)) !== 'corrupt';
}
