/**
 * The attacks on a path, as data: what lies in the city, what is asked, and where it lands or how it is refused. Each
 * row is asked of the product, of each wall with the other one open, of each wall alone as a hostile guest would ask it,
 * and of a naive program, which must fall for it: so every row can fail. Run by test/walls/attacks.test.ts, and by
 * test/hostile/guests.test.ts through a hostile component.
 *
 * In paths and link texts `{root}` is the city as it was entered, `{outside}` a directory beside it. Every city holds
 * the things of COMMON; beside it lie those of OUTSIDE, and a sibling `{root}-evil` with a `secret`.
 */

import type { AxCode } from '../error.js';
import type { MemoryPath, MemoryThing } from '../tree/memory.js';
import type { ErrorCode } from '../wasi/codes.js';

/** Stands in every file that must not be read; no answer ever holds it. */
export const BAIT = 'BAIT-7f3c-CANARY';
/** What is searched for: found only where the bait was. */
export const BAIT_NEEDLE = 'BAIT-7f3c';
/** Stands in names that must not be told. */
const NAME_BAIT = 'NAME-CANARY';
/** What no output may hold. */
export const CANARY = 'CANARY';

/** What a layout puts at a path. */
export type Thing =
  | MemoryThing
  /** A second name of a file outside; of another owner than the city's if `otherOwner`. */
  | { readonly hardLink: string; readonly otherOwner?: true }
  | { readonly device: true }
  | { readonly socket: true };

/** Paths of a city or beside it, each with what lies there; laid in this order. */
export type Layout = readonly (readonly [MemoryPath, Thing])[];

/** What a neighbour does to the city. */
export type Swap =
  | { readonly put: string; readonly thing: Thing }
  | { readonly move: string; readonly to: string }
  | { readonly moveOut: string }
  /** Another directory stands where the city was, with the bait at this path. */
  | { readonly replaceRoot: string };

/** Where a call ends: the first line of what it gives, or the refusal; `nothing`: an answer without hits. */
export type End = { readonly lands: string } | { readonly refused: AxCode } | 'nothing';

/** One row of the table: what is asked, of which city, and where it must end. */
export interface Attack {
  /** A claim. */
  readonly name: string;
  readonly path: string;
  readonly layout?: Layout;
  /** Once the city is entered, before it is asked. */
  readonly before?: readonly Swap[];
  /** After wall 1 judged, before wall 2 opens. */
  readonly between?: readonly Swap[];
  readonly read: End;
  /** `search` with this path, if it ends otherwise. */
  readonly search?: End;
  /** What either wall alone tells a guest that asks the raw path, following links: the first line, or the code. */
  readonly guest: ErrorCode | { readonly lands: string };
  /** What wall 1's grant alone tells it, if another code: it knows no causes, and judges what is asked of a disk. */
  readonly granted?: ErrorCode;
  /** The program that falls for it: see NAIVE in test/walls/naive.ts. */
  readonly naive: NaiveKind;
  /** What it gets, if that is not the bait. */
  readonly naiveGets?: string;
  /** Where it can be expressed, if not everywhere. `folding`: a memory city whose names fold. */
  readonly only?: 'disk' | 'memory' | 'folding';
  readonly reader?: string;
  /** `by-name`: a policy that closes `vault` and `broken` and opens every other spelling. Default: the rules files. */
  readonly policy?: 'by-name';
  readonly deny?: readonly string[];
  /** How `read` ends with wall 1's bound open, if otherwise: never with the bait. */
  readonly withoutJudge?: End;
  readonly needsRoot?: true;
  readonly why: string;
}

/** The mistakes of the naive program: each row names the one that falls for it. */
export type NaiveKind =
  | 'follow'
  | 'prefix'
  | 'decode'
  | 'backslash'
  | 'drive'
  | 'stream'
  | 'trim'
  | 'c-string'
  | 'lexical'
  | 'unlimited'
  | 'lossy'
  | 'folding'
  | 'hangs'
  | 'tells'
  | 'timid';

const CONFIDENTIAL = 'confidential = true\nwrite = "documents"\n';

/** What every row stands on, below its own layout. */
export const COMMON: Layout = [
  ['lab/notes.md', 'LANDED notes\n'],
  ['lab/room/memo.md', 'LANDED memo\n'],
  ['lab/.sprawling/ledger', BAIT],
  ['hall/minutes.md', 'LANDED minutes\n'],
  ['hall/.git/HEAD', BAIT],
  ['.git/config', BAIT],
  ['vault/.sprawling/RULES.toml', CONFIDENTIAL],
  ['vault/secret', BAIT],
  ['vault/room/secret', BAIT],
  [`vault/${NAME_BAIT}`, 'a name tells, too'],
  [`vault/${NAME_BAIT}:stream`, 'no address, and still a name'],
  [`vault/${NAME_BAIT}-loop`, { link: `${NAME_BAIT}-loop` }],
  ['broken/.sprawling/RULES.toml', 'confidential = '],
  ['broken/secret', BAIT],
  [`broken/${NAME_BAIT}`, 'a name tells, too'],
  [`broken/${NAME_BAIT}:stream`, 'no address, and still a name'],
  [`broken/${NAME_BAIT}-loop`, { link: `${NAME_BAIT}-loop` }],
];

/** Beside the city: path and text. */
export const OUTSIDE: readonly (readonly [string, string])[] = [
  ['secret', BAIT],
  ['dir/secret', BAIT],
  ['dir/memo.md', BAIT],
  ['owned', BAIT],
  ['shared', 'LANDED shared\n'],
  [NAME_BAIT, 'a name tells, too'],
];

const link = (text: string): Thing => ({ link: text });
const lands = (text: string) => ({ lands: text }) as const;
const DENIED = { refused: 'E_GATE_DENIED' } as const;
const INVALID = { refused: 'E_INVALID_ARGS' } as const;
const BROKEN = { refused: 'E_STORAGE_FATAL' } as const;

/** `count` links one after the other, the last one to lab/notes.md. */
const chain = (count: number): Layout =>
  Array.from({ length: count }, (_, index) => [
    `lab/chain${index}`,
    link(index + 1 === count ? 'notes.md' : `chain${index + 1}`),
  ]);

const DOTS: readonly Attack[] = [
  {
    name: '`..` leads out of the city',
    path: '../outside/secret',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'the oldest one; dots are no segments of an address',
  },
  {
    name: '`..` leads out from below',
    path: 'lab/../../outside/secret',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'a check of the beginning of the path would pass it',
  },
  {
    name: '`./..` leads out',
    path: './../outside/secret',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'one segment of dots before the other',
  },
  {
    name: 'as many `..` as there are directories, and one more',
    path: 'lab/room/../../../outside/secret',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'depth has to be counted, not guessed',
  },
  {
    name: '`..` at the top is not the top',
    path: '../lab/notes.md',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'tells',
    only: 'disk',
    why: 'a root that swallows dots, as chroot has, would give one place two spellings',
  },
  {
    name: '`..` leads into a closed building',
    path: 'lab/../vault/secret',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'it stays in the city, so containment alone would pass it',
  },
  {
    name: '`..` leads into a broken building',
    path: 'lab/../broken/secret',
    read: INVALID,
    guest: 'not-recoverable',
    granted: 'not-permitted',
    naive: 'follow',
    why: 'the same, and the guest is told that its rules do not read',
  },
  {
    name: '`..` leads into a reserved place',
    path: 'lab/./../.git/config',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'the first segment is not the building here',
  },
  {
    name: '`..` within the city is no address, and means what POSIX says to a guest',
    path: 'lab/room/../notes.md',
    read: INVALID,
    guest: lands('LANDED notes'),
    naive: 'follow',
    naiveGets: 'LANDED notes',
    why: 'no normalisation: one place, one address; wasi:filesystem has dots',
  },
  {
    name: '`..` behind what is missing',
    path: 'lab/missing/../../vault/secret',
    read: INVALID,
    guest: 'not-permitted',
    granted: 'no-entry',
    naive: 'lexical',
    why: 'a program that cleans the path first gets there',
  },
  {
    name: 'a doubled slash',
    path: 'vault//secret',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'an empty segment is none',
  },
  {
    name: 'percent-encoded dots are a name that is not there',
    path: '%2e%2e/outside/secret',
    read: INVALID,
    guest: 'no-entry',
    naive: 'decode',
    why: 'nothing is decoded',
  },
  {
    name: 'percent-encoded dots are a name that is there',
    path: '%2e%2e/notes.md',
    layout: [['%2e%2e/notes.md', 'LANDED percent\n']],
    read: lands('LANDED percent'),
    guest: lands('LANDED percent'),
    naive: 'timid',
    why: 'a name is a name',
  },
  {
    name: 'backslashes and dots',
    path: '..\\outside\\secret',
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'backslash',
    why: 'a separator on Windows',
  },
  {
    name: 'backslashes below a building',
    path: 'lab\\..\\vault\\secret',
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'backslash',
    why: 'one segment here, four elsewhere',
  },
  {
    name: 'a drive letter before dots',
    path: 'C:../outside/secret',
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'drive',
    why: 'relative to the directory of a drive',
  },
  {
    name: 'a drive letter',
    path: 'C:/vault/secret',
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'drive',
    why: 'an absolute path elsewhere',
  },
  {
    name: 'a stream of a file',
    path: 'lab/notes.md::$DATA',
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'stream',
    naiveGets: 'LANDED notes',
    why: 'NTFS opens the file under another name',
  },
  {
    name: 'a building with a space behind it',
    path: 'vault /secret',
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'trim',
    why: 'Windows takes it away, after the check',
  },
  {
    name: 'a reserved name with a dot behind it',
    path: '.git./config',
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'trim',
    why: 'the same with a dot',
  },
];

const ABSOLUTE: readonly Attack[] = [
  {
    name: 'an absolute path outside',
    path: '{outside}/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    only: 'disk',
    why: 'nothing there is looked at',
  },
  {
    name: 'an absolute path to nothing outside',
    path: '{outside}/missing',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'tells',
    only: 'disk',
    why: 'the answer must not tell what is there',
  },
  {
    name: 'a sibling whose name begins with the city’s',
    path: '{root}-evil/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'prefix',
    only: 'disk',
    why: 'whole segments are compared, not characters',
  },
  {
    name: 'an absolute path inside is one way to say an address',
    path: '{root}/lab/notes.md',
    read: lands('LANDED notes'),
    guest: 'not-permitted',
    naive: 'timid',
    why: 'a model has seen it; a guest has no root to be absolute from',
  },
  {
    name: 'an absolute path into a closed building',
    path: '{root}/vault/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'prefix',
    why: 'the rest is admitted like any address',
  },
  {
    name: 'an absolute path into a reserved place',
    path: '{root}/.git/config',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'prefix',
    why: 'the same',
  },
  {
    name: 'the city’s spelling, and dots behind it',
    path: '{root}/../outside/secret',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'prefix',
    only: 'disk',
    why: 'the prefix is right, the place is not',
  },
  {
    name: 'the city’s spelling and two slashes',
    path: '{root}//vault/secret',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'prefix',
    why: 'the rest would be absolute again',
  },
  {
    name: 'two slashes before the city’s spelling',
    path: '/{root}/lab/notes.md',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    naiveGets: 'LANDED notes',
    only: 'disk',
    why: 'by text it is not under the root, and nothing else is asked',
  },
  {
    name: 'the root directory through /proc',
    path: '/proc/self/root{outside}/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    only: 'disk',
    why: 'a link that only the kernel can follow',
  },
];

const LINKS: readonly Attack[] = [
  {
    name: 'a link to a file outside, absolute',
    layout: [['lab/x', link('{outside}/secret')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    only: 'disk',
    why: 'the last segment is never followed by the kernel',
  },
  {
    name: 'a link to a file outside, relative',
    layout: [['lab/x', link('../../outside/secret')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: '`..` of a link’s text may not leave either',
  },
  {
    name: 'a link to a directory outside, with a slash behind it',
    layout: [['lab/x', link('../../outside')]],
    path: 'lab/x/',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'RUSTSEC-2026-0269: the slash makes the kernel follow what O_NOFOLLOW would not',
  },
  {
    name: 'a link to a directory outside, with `/.` behind it',
    layout: [['lab/x', link('../../outside')]],
    path: 'lab/x/.',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'CVE-2026-39822: the same with a dot',
  },
  {
    name: 'a link to a directory outside',
    layout: [['lab/x', link('../../outside')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'a listing tells names',
  },
  {
    name: 'a link in the middle leads out',
    layout: [['lab/x', link('../../outside/dir')]],
    path: 'lab/x/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'O_NOFOLLOW minds the last segment only',
  },
  {
    name: 'a missing leaf under a link that leads out',
    layout: [['lab/x', link('../../outside/dir')]],
    path: 'lab/x/missing',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'tells',
    why: 'what is missing outside is not told from what is there',
  },
  {
    name: '`..` behind a link that leads out',
    layout: [['lab/x', link('../../outside/dir')]],
    path: 'lab/x/../secret',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'the parent of where it leads, not of where it stands',
  },
  {
    name: 'a link to a link to a link that leads out',
    layout: [
      ['lab/x', link('y')],
      ['lab/y', link('room/z')],
      ['lab/room/z', link('../../../outside/secret')],
    ],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'each text is walked from where its link stands',
  },
  {
    name: 'links from building to building, and out',
    layout: [
      ['hall/x', link('../lab/y')],
      ['lab/y', link('../../outside/secret')],
    ],
    path: 'hall/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'the second building is as open as the first',
  },
  {
    name: '40 links are followed',
    layout: chain(40),
    path: 'lab/chain0',
    read: lands('LANDED notes'),
    guest: lands('LANDED notes'),
    naive: 'timid',
    why: 'as many as Linux follows',
  },
  {
    name: '41 links are not',
    layout: chain(41),
    path: 'lab/chain0',
    read: BROKEN,
    search: BROKEN,
    guest: 'loop',
    naive: 'unlimited',
    naiveGets: 'LANDED notes',
    why: 'one more than the limit',
  },
  {
    name: 'a link to itself',
    layout: [['lab/x', link('x')]],
    path: 'lab/x',
    read: BROKEN,
    guest: 'loop',
    naive: 'tells',
    why: 'it ends, and says nothing of the host',
  },
  {
    name: 'two links to one another',
    layout: [
      ['lab/x', link('../hall/y')],
      ['hall/y', link('../lab/x')],
    ],
    path: 'lab/x',
    read: BROKEN,
    guest: 'loop',
    naive: 'tells',
    why: 'a loop that no single link shows',
  },
  {
    name: 'a link that leaves the city and comes back',
    layout: [['lab/x', link('../../city/lab/notes.md')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    naiveGets: 'LANDED notes',
    only: 'disk',
    why: 'what it passes is judged, not only where it ends',
  },
  {
    name: 'a link that climbs above the root and comes down in it',
    layout: [['lab/x', link('../../lab/notes.md')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'tells',
    only: 'disk',
    why: 'the root’s `..` is not the root',
  },
  {
    name: 'an absolute link inside, under the city’s spelling',
    layout: [['lab/x', link('{root}/lab/notes.md')]],
    path: 'lab/x',
    read: lands('LANDED notes'),
    guest: lands('LANDED notes'),
    naive: 'timid',
    why: 'by text it counts from the root',
  },
  {
    name: 'an absolute link into a closed building',
    layout: [['lab/x', link('{root}/vault/secret')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'it counts from the root and is judged there',
  },
  {
    name: 'an absolute link to a sibling whose name begins with the city’s',
    layout: [['lab/x', link('{root}-evil/secret')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    only: 'disk',
    why: 'link texts are compared by whole segments too',
  },
  {
    name: 'an absolute link with dots behind the city’s spelling',
    layout: [['lab/x', link('{root}/../outside/secret')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    only: 'disk',
    why: 'the rest is walked, not trusted',
  },
  {
    name: 'a link into /proc',
    layout: [['lab/x', link('/proc/self/root{outside}/secret')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    only: 'disk',
    why: 'a magic link leaves everything a text could be compared with',
  },
  {
    name: 'a link to nothing outside',
    layout: [['lab/x', link('{outside}/missing')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'tells',
    only: 'disk',
    why: 'refused, not reported broken: that would say what is there',
  },
  {
    name: 'a link to nothing inside',
    layout: [['lab/x', link('gone.md')]],
    path: 'lab/x',
    read: BROKEN,
    guest: 'loop',
    naive: 'tells',
    why: 'a person has to mend it, and the answer says so',
  },
  {
    name: 'a link to nothing in a reserved place',
    layout: [['lab/x', link('../.git/missing')]],
    path: 'lab/x',
    read: DENIED,
    withoutJudge: BROKEN,
    guest: 'not-permitted',
    naive: 'tells',
    why: 'judged whether or not anything is there',
  },
  {
    name: 'a link to nothing in a closed building',
    layout: [['lab/x', link('../vault/missing')]],
    path: 'lab/x',
    read: DENIED,
    withoutJudge: BROKEN,
    guest: 'not-permitted',
    naive: 'tells',
    why: 'the same',
  },
  {
    name: 'a link into the reserved place beside it',
    layout: [['lab/x', link('.sprawling/ledger')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'judged where it lands',
  },
  {
    name: 'a link to a reserved directory',
    layout: [['hall/x', link('.git')]],
    path: 'hall/x/HEAD',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'the address holds no reserved name, the landing does',
  },
  {
    name: 'a link into a closed building',
    layout: [['lab/x', link('../vault/secret')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'the building of the landing is asked',
  },
  {
    name: 'a link to a closed building',
    layout: [['lab/x', link('../vault')]],
    path: 'lab/x/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'in the middle of a path',
  },
  {
    name: 'a building that is a link to a closed one',
    layout: [['annex', link('vault')]],
    path: 'annex/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'a building that is a link is judged where it lands',
  },
  {
    name: 'a building that is a link to outside',
    layout: [['annex', link('../outside')]],
    path: 'annex/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'its rules file is not looked for there either',
  },
  {
    name: 'a link into a broken building',
    layout: [['lab/x', link('../broken/secret')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'its rules may say confidential',
  },
  {
    name: 'a link through a closed building and back',
    layout: [['lab/x', link('../vault/../lab/notes.md')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    naiveGets: 'LANDED notes',
    why: 'passing is judged like landing: else it tells that something is there',
  },
  {
    name: 'a link to a link in a closed building that leads back',
    layout: [
      ['lab/x', link('../vault/back')],
      ['vault/back', link('../lab/notes.md')],
    ],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    naiveGets: 'LANDED notes',
    why: 'its text is not read',
  },
  {
    name: '`..` behind a link is the parent of where it leads',
    layout: [
      ['lab/a', link('b/c')],
      ['lab/b/c/y', 'LANDED y\n'],
      ['lab/b/x', 'LANDED b/x\n'],
      ['lab/x', 'LANDED wrong\n'],
    ],
    path: 'lab/a/../x',
    read: INVALID,
    guest: lands('LANDED b/x'),
    naive: 'lexical',
    naiveGets: 'LANDED wrong',
    why: 'cleaning the path as text names another file than POSIX does',
  },
  {
    name: '`..` in a link’s text is the parent of where the link before it leads',
    layout: [
      ['lab/a', link('b/c')],
      ['lab/b/c/y', 'LANDED y\n'],
      ['lab/b/x', 'LANDED b/x\n'],
      ['lab/x', 'LANDED wrong\n'],
      ['lab/l', link('a/../x')],
    ],
    path: 'lab/l',
    read: lands('LANDED b/x'),
    guest: lands('LANDED b/x'),
    naive: 'timid',
    why: 'the same in a text',
  },
  {
    name: 'a link to a directory inside can be searched, not read',
    layout: [['lab/x', link('room')]],
    path: 'lab/x',
    read: INVALID,
    search: lands('LANDED memo'),
    guest: 'is-directory',
    naive: 'timid',
    why: 'a start place may be a link; a walk passes it over',
  },
  {
    name: 'a link to a name that is no address',
    layout: [
      ['lab/x', link('a\\b')],
      ['lab/a\\b', 'LANDED odd\n'],
    ],
    path: 'lab/x',
    read: INVALID,
    guest: 'loop',
    naive: 'follow',
    naiveGets: 'LANDED odd',
    why: 'what cannot be asked is not reached by a link',
  },
  {
    name: 'a link whose text is not UTF-8',
    layout: [
      ['lab/x', { link: new Uint8Array([0xff]) }],
      [['lab', new Uint8Array([0xff])], 'LANDED odd\n'],
    ],
    path: 'lab/x',
    read: INVALID,
    guest: 'loop',
    naive: 'follow',
    naiveGets: 'LANDED odd',
    only: 'disk',
    why: 'the same for bytes',
  },
  {
    name: 'a link to a file with a slash behind it',
    layout: [['lab/x', link('notes.md/')]],
    path: 'lab/x',
    read: BROKEN,
    guest: 'loop',
    naive: 'tells',
    why: 'a slash asks for a directory',
  },
];

const RESERVED: readonly Attack[] = [
  {
    name: 'the repository of the city',
    path: '.git/config',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'reserved at the top',
  },
  {
    name: 'the repository of a building',
    path: 'hall/.git/HEAD',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'reserved below',
  },
  {
    name: 'what governs a building',
    path: 'lab/.sprawling/ledger',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'the other name',
  },
  {
    name: 'what governs the reader’s own building',
    path: 'lab/.sprawling/ledger',
    reader: 'lab',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'reserved is asked before the bound, at home too',
  },
  {
    name: 'a reserved name in capitals',
    layout: [['.GIT/config', BAIT]],
    path: '.GIT/config',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'a disk may fold ASCII case',
  },
  {
    name: 'a reserved name in mixed case, deep',
    layout: [['lab/room/.SpRaWlInG/deep/ledger', BAIT]],
    path: 'lab/room/.SpRaWlInG/deep/ledger',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'any depth, any case',
  },
  {
    name: 'a file of a reserved name',
    layout: [['lab/room/.git', BAIT]],
    path: 'lab/room/.git',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'a work tree has a file there',
  },
  {
    name: 'a reserved directory itself',
    layout: [[`lab/.git/${NAME_BAIT}`, '']],
    path: 'lab/.git',
    read: DENIED,
    withoutJudge: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'a listing tells names',
  },
  {
    name: 'nothing in a reserved place',
    path: '.git/missing',
    read: DENIED,
    withoutJudge: INVALID,
    guest: 'not-permitted',
    naive: 'tells',
    why: 'refused before anything is looked at',
  },
  ...['.gitlab/ci.md', 'lab/a.git/x', 'lab/.gits', 'git/config', 'lab/.sprawling2', 'lab/.ſprawling/x', 'lab/.gıt'].map(
    (path): Attack => ({
      name: `a name that only looks reserved: ${path}`,
      layout: [[path, 'LANDED lookalike\n']],
      path,
      read: lands('LANDED lookalike'),
      guest: lands('LANDED lookalike'),
      naive: 'timid',
      why: 'whole names are compared, and ASCII alone is folded',
    }),
  ),
];

const CLOSED: readonly Attack[] = [
  {
    name: 'a file of a closed building',
    path: 'vault/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'the bound',
  },
  {
    name: 'a file of a room of a closed building',
    path: 'vault/room/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'a building is all below it',
  },
  {
    name: 'a closed building itself',
    path: 'vault',
    read: DENIED,
    withoutJudge: INVALID,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'its names are not told',
  },
  {
    name: 'nothing in a closed building',
    path: 'vault/missing',
    read: DENIED,
    withoutJudge: INVALID,
    guest: 'not-permitted',
    naive: 'tells',
    why: 'what is missing is not told from what is there',
  },
  {
    name: 'a file of a closed building, asked from another one',
    path: 'vault/secret',
    reader: 'lab',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'a resident of lab is an outsider here',
  },
  {
    name: 'a file of a broken building',
    path: 'broken/secret',
    read: DENIED,
    guest: 'not-recoverable',
    granted: 'not-permitted',
    naive: 'follow',
    why: 'closed, because its rules may say so',
  },
  {
    name: 'a broken building itself',
    path: 'broken',
    read: DENIED,
    withoutJudge: INVALID,
    guest: 'not-recoverable',
    granted: 'not-permitted',
    naive: 'follow',
    why: 'its names are not told',
  },
  {
    name: 'a building whose rules file is a link to milder ones',
    layout: [
      ['sly/.sprawling/RULES.toml', link('../../lab/mild.toml')],
      ['lab/mild.toml', 'confidential = false\nwrite = "everything"\n'],
      ['sly/secret', BAIT],
    ],
    path: 'sly/secret',
    read: DENIED,
    guest: 'not-recoverable',
    granted: 'not-permitted',
    naive: 'follow',
    why: 'rules are never read through a link',
  },
  {
    name: 'a building whose rules directory is a link to a milder one',
    layout: [
      ['sly/.sprawling', link('../mild')],
      ['mild/RULES.toml', 'confidential = false\nwrite = "everything"\n'],
      ['sly/secret', BAIT],
    ],
    path: 'sly/secret',
    read: DENIED,
    guest: 'not-recoverable',
    granted: 'not-permitted',
    naive: 'follow',
    why: 'the same one level up',
  },
  {
    name: 'a building whose rules are too large to read',
    layout: [
      ['sly/.sprawling/RULES.toml', `confidential = false\nwrite = "everything"\n#${'x'.repeat(65_536)}`],
      ['sly/secret', BAIT],
    ],
    path: 'sly/secret',
    read: DENIED,
    guest: 'not-recoverable',
    granted: 'not-permitted',
    naive: 'follow',
    why: 'what is not read whole says nothing',
  },
  {
    name: 'a building whose name begins with a closed one’s',
    layout: [['vault2/notes.md', 'LANDED vault2\n']],
    path: 'vault2/notes.md',
    read: lands('LANDED vault2'),
    guest: lands('LANDED vault2'),
    naive: 'timid',
    why: 'whole segments are compared',
  },
];

const ALIASES: readonly Attack[] = [
  {
    name: 'a closed building in another case',
    path: 'Vault/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'folding',
    only: 'folding',
    why: 'the disk opens the same building',
  },
  {
    name: 'a closed building in another case, under a policy that opens all but its name',
    policy: 'by-name',
    path: 'Vault/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'folding',
    only: 'folding',
    why: 'no verdict can catch it: a spelling must stand in the listing',
  },
  {
    name: 'a closed building itself in another case, under a policy that opens all but its name',
    policy: 'by-name',
    path: 'Vault',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'folding',
    only: 'folding',
    why: 'one name, opened without a walk: the same question is asked of it',
  },
  {
    name: 'a closed building in a wide letter, under a policy that opens all but its name',
    policy: 'by-name',
    path: 'Ｖault/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'folding',
    only: 'folding',
    why: 'compatibility forms fold on some shares',
  },
  {
    name: 'a link into a closed building in another case, under a policy that opens all but its name',
    policy: 'by-name',
    layout: [['lab/x', link('../VAULT/secret')]],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'folding',
    only: 'folding',
    why: 'a link’s text came from no listing either',
  },
  {
    name: 'a reserved name with a character that is ignored',
    path: 'hall/.g\u200cit/HEAD',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'folding',
    only: 'folding',
    why: 'HFS+ ignores it',
  },
  {
    name: 'a reserved name with a long s',
    path: 'lab/.ſprawling/ledger',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'folding',
    only: 'folding',
    why: 'folding is the disk’s, not ours',
  },
  {
    name: 'a link to a reserved name with a character that is ignored',
    layout: [['hall/x', link('.g\u200cit/HEAD')]],
    path: 'hall/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'folding',
    only: 'folding',
    why: 'the same in a text',
  },
  {
    name: 'an open file in another case',
    path: 'lab/Notes.md',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'folding',
    naiveGets: 'LANDED notes',
    only: 'folding',
    why: 'one place, one address',
  },
];

const NAMES: readonly Attack[] = [
  {
    name: 'a building named __proto__',
    layout: [['__proto__/notes.md', 'LANDED proto\n']],
    path: '__proto__/notes.md',
    read: lands('LANDED proto'),
    guest: lands('LANDED proto'),
    naive: 'timid',
    why: 'a name is a name',
  },
  {
    name: 'a closed building named __proto__',
    layout: [
      ['__proto__/.sprawling/RULES.toml', CONFIDENTIAL],
      ['__proto__/secret', BAIT],
    ],
    path: '__proto__/secret',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'a verdict kept in a plain object would be lost',
  },
  {
    name: 'a file named constructor',
    layout: [['constructor', 'LANDED constructor\n']],
    path: 'constructor',
    read: lands('LANDED constructor'),
    guest: lands('LANDED constructor'),
    naive: 'timid',
    why: 'a verdict that every object has must not be taken for one',
  },
  {
    name: 'a name that goes on behind a NUL',
    path: 'vault/secret\0.md',
    read: INVALID,
    guest: 'not-permitted',
    naive: 'c-string',
    why: 'C ends there',
  },
  {
    name: 'an open name that goes on behind a NUL',
    path: 'lab/notes.md\0.png',
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'c-string',
    naiveGets: 'LANDED notes',
    why: 'Node would say the host’s path in its error',
  },
  {
    name: 'half a character',
    layout: [['lab/\ufffd', 'LANDED other\n']],
    path: 'lab/\ud800',
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'follow',
    naiveGets: 'LANDED other',
    only: 'disk',
    why: 'Node opens U+FFFD instead, another file',
  },
  {
    name: 'a control character in a name',
    layout: [['lab/a\u0007b', 'LANDED bell\n']],
    path: 'lab/a\u0007b',
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'follow',
    naiveGets: 'LANDED bell',
    why: 'it could speak to a terminal',
  },
  {
    name: 'a name of 5 000 bytes',
    path: `lab/${'n'.repeat(5_000)}`,
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'tells',
    why: 'the system’s error holds the host’s path',
  },
  {
    name: 'a name of 256 bytes',
    path: `lab/${'é'.repeat(128)}`,
    read: INVALID,
    guest: 'illegal-byte-sequence',
    naive: 'tells',
    why: 'bytes are counted, not characters',
  },
  {
    name: 'a name of 255 bytes',
    layout: [[`lab/${'n'.repeat(255)}`, 'LANDED long\n']],
    path: `lab/${'n'.repeat(255)}`,
    read: lands('LANDED long'),
    guest: lands('LANDED long'),
    naive: 'timid',
    why: 'the longest there is',
  },
  {
    name: 'a path longer than any may be',
    path: `${'d/'.repeat(33_000)}f`,
    read: INVALID,
    guest: 'name-too-long',
    naive: 'tells',
    why: 'bounded before it is walked',
  },
  {
    name: 'a name that is not UTF-8, asked as it is shown',
    layout: [[['lab', new Uint8Array([0xff])], BAIT]],
    path: 'lab/\ufffd',
    read: INVALID,
    guest: 'no-entry',
    naive: 'lossy',
    only: 'disk',
    why: 'shown, counted unread, never opened',
  },
  {
    name: 'a path through a file',
    path: 'lab/notes.md/secret',
    read: INVALID,
    guest: 'not-directory',
    naive: 'tells',
    why: 'the caller’s mistake, in our words',
  },
];

const KINDS: readonly Attack[] = [
  {
    name: 'a FIFO',
    layout: [['lab/pipe', { other: true }]],
    path: 'lab/pipe',
    read: INVALID,
    guest: 'unsupported',
    naive: 'hangs',
    why: 'an open would wait for a writer',
  },
  {
    name: 'a link to a FIFO',
    layout: [
      ['lab/pipe', { other: true }],
      ['lab/x', link('pipe')],
    ],
    path: 'lab/x',
    read: INVALID,
    guest: 'unsupported',
    naive: 'hangs',
    why: 'the kind of the landing counts',
  },
  {
    name: 'a socket',
    layout: [['lab/socket', { socket: true }]],
    path: 'lab/socket',
    read: INVALID,
    guest: 'unsupported',
    naive: 'tells',
    why: 'never opened',
  },
  {
    name: 'a device',
    layout: [['lab/zero', { device: true }]],
    path: 'lab/zero',
    read: INVALID,
    guest: 'unsupported',
    naive: 'follow',
    naiveGets: '\0\0\0\0',
    needsRoot: true,
    why: 'it never ends, or answers to an open',
  },
  {
    name: 'a second name of a stranger’s file outside',
    layout: [['lab/hard', { hardLink: 'owned', otherOwner: true }]],
    path: 'lab/hard',
    read: DENIED,
    guest: 'cross-device',
    naive: 'follow',
    needsRoot: true,
    search: 'nothing',
    why: 'whoever may link may not be who may read',
  },
  {
    name: 'a second name of an own file outside',
    layout: [['lab/hard', { hardLink: 'shared' }]],
    path: 'lab/hard',
    read: lands('LANDED shared'),
    guest: lands('LANDED shared'),
    naive: 'timid',
    why: 'it cannot be told from a file of the city: said in SECURITY',
  },
  {
    name: 'a file on another mount',
    layout: [['lab/mounted', { file: BAIT, otherMount: true }]],
    path: 'lab/mounted',
    read: DENIED,
    search: 'nothing',
    guest: 'cross-device',
    naive: 'follow',
    only: 'memory',
    why: 'the city is one file system',
  },
  {
    name: 'a file of a directory on another mount',
    layout: [
      ['lab/mounted', { directory: true, otherMount: true }],
      ['lab/mounted/secret', BAIT],
    ],
    path: 'lab/mounted/secret',
    read: DENIED,
    guest: 'cross-device',
    naive: 'follow',
    only: 'memory',
    why: 'the same',
  },
];

const PATTERNS: readonly Attack[] = [
  {
    name: 'a file that a deny pattern covers',
    layout: [['lab/keys/a.pem', BAIT]],
    deny: ['**/*.pem'],
    path: 'lab/keys/a.pem',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'a pattern wins over an open building',
  },
  {
    name: 'a file that a deny pattern covers, at home',
    layout: [['lab/keys/a.pem', BAIT]],
    deny: ['**/*.pem'],
    reader: 'lab',
    path: 'lab/keys/a.pem',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'and over the reader’s own',
  },
  {
    name: 'a file that a deny pattern covers in another case',
    layout: [['lab/KEYS/a', BAIT]],
    deny: ['*/keys'],
    path: 'lab/KEYS/a',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'case is folded, and a directory covers what is below',
  },
  {
    name: 'a link to a file that a deny pattern covers',
    layout: [
      ['lab/keys/a.pem', BAIT],
      ['lab/x', link('keys/a.pem')],
    ],
    deny: ['**/*.pem'],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'landings are covered too',
  },
  {
    name: 'a link through a directory that a deny pattern covers',
    layout: [
      ['lab/keys/a.pem', BAIT],
      ['lab/x', link('keys/../notes.md')],
    ],
    deny: ['lab/keys'],
    path: 'lab/x',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    naiveGets: 'LANDED notes',
    why: 'and what is passed',
  },
  {
    name: 'a pattern that nobody can evaluate closes everything',
    layout: [['lab/keys/a.pem', BAIT]],
    deny: ['lab/{keys,locks}'],
    path: 'lab/keys/a.pem',
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'what it was to close is not known',
  },
];

const SWAPS: readonly Attack[] = [
  {
    name: 'a directory is swapped with a link that leads out',
    path: 'lab/room/memo.md',
    between: [
      { move: 'lab/room', to: 'lab/gone' },
      { put: 'lab/room', thing: link('../../outside/dir') },
    ],
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'wall 2 walks again',
  },
  {
    name: 'a directory is swapped with a link into a closed building',
    layout: [['vault/room/memo.md', BAIT]],
    path: 'lab/room/memo.md',
    between: [
      { move: 'lab/room', to: 'lab/gone' },
      { put: 'lab/room', thing: link('../vault/room') },
    ],
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'containment alone would pass it',
  },
  {
    name: 'a building is swapped with a link to a closed one',
    layout: [['hall/secret', 'LANDED hall\n']],
    path: 'hall/secret',
    between: [
      { move: 'hall', to: 'hall2' },
      { put: 'hall', thing: link('vault') },
    ],
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'the verdict was of another building',
  },
  {
    name: 'a file is swapped with a link that leads out',
    path: 'lab/notes.md',
    between: [{ put: 'lab/notes.md', thing: link('../../outside/secret') }],
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'the last segment',
  },
  {
    name: 'a file is swapped with a link into a closed building',
    path: 'lab/notes.md',
    between: [{ put: 'lab/notes.md', thing: link('../vault/secret') }],
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'with wall 2’s bound open, wall 1 sees it after the open',
  },
  {
    name: 'a file is swapped with a link into a reserved place',
    path: 'lab/notes.md',
    between: [{ put: 'lab/notes.md', thing: link('.sprawling/ledger') }],
    read: DENIED,
    guest: 'not-permitted',
    naive: 'follow',
    why: 'the same',
  },
  {
    name: 'a file is swapped with a FIFO',
    path: 'lab/notes.md',
    between: [
      { move: 'lab/notes.md', to: 'lab/notes.old' },
      { put: 'lab/notes.md', thing: { other: true } },
    ],
    read: DENIED,
    guest: 'unsupported',
    naive: 'hangs',
    why: 'opened without waiting, its kind asked of the handle',
  },
  {
    name: 'a file is swapped with another file',
    path: 'lab/notes.md',
    between: [{ put: 'lab/notes.md', thing: 'LANDED newer\n' }],
    read: lands('LANDED newer'),
    guest: lands('LANDED newer'),
    naive: 'timid',
    why: 'an editor saves so; the place is what was judged',
  },
  {
    name: 'a directory is renamed away',
    path: 'lab/room/memo.md',
    between: [{ move: 'lab/room', to: 'lab/gone' }],
    read: DENIED,
    guest: 'no-entry',
    naive: 'tells',
    why: 'it changed after it was judged',
  },
  {
    name: 'a directory is moved out of the city',
    path: 'lab/room/memo.md',
    between: [{ moveOut: 'lab/room' }],
    read: DENIED,
    guest: 'no-entry',
    naive: 'tells',
    why: 'the same',
  },
  {
    name: 'the city is replaced under a call',
    path: 'lab/notes.md',
    between: [{ replaceRoot: 'lab/notes.md' }],
    read: DENIED,
    guest: 'no-entry',
    naive: 'follow',
    only: 'disk',
    why: 'its root is pinned, and its places are where they were entered',
  },
  {
    name: 'the city is replaced before a call',
    path: 'lab/notes.md',
    before: [{ replaceRoot: 'lab/notes.md' }],
    read: BROKEN,
    guest: 'not-permitted',
    naive: 'follow',
    only: 'disk',
    why: 'never an answer from another city, nor from a directory that is gone',
  },
];

/** The table, whole. */
export const ATTACKS: readonly Attack[] = [
  ...DOTS,
  ...ABSOLUTE,
  ...LINKS,
  ...RESERVED,
  ...CLOSED,
  ...ALIASES,
  ...NAMES,
  ...KINDS,
  ...PATTERNS,
  ...SWAPS,
];
