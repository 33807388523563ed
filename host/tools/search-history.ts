/**
 * `search_history`: what was said, from git, verbatim. A pattern over everything that matching branches ever added to
 * `messages/` and `summary/`, or one entry whole. The guest reads the repository; this file pulls its pages, checks them,
 * and has every entry that is shown proved (repository.ts) before a byte of it leaves.
 * Spec: history.
 */

import { z } from 'zod';
import { type Asked, type AxError, cancelled, invalidArgs, limitReached, type Outcome, ok, refused } from '../error.js';
import { isReservedSegment, segmentRule } from '../judge/address.js';
import { denied } from '../judge/admit.js';
import * as limits from '../limits.js';
import type { Call } from '../runner/call.js';
import { shownText, strictText, utf8Bytes } from '../tree/names.js';
import { type GitFault, type Guest, GuestFault, type HistoryEntry, type HistoryPage } from '../wasi/guest.js';
import { addressOf, base64Of, Collected, ENTRY_DIRECTORIES, framed, Passing, spelled } from './entry.js';
import { listRoot, SPENT_SENTENCES } from './locating.js';
import { type Followed, faultError, follow, type Opened, PAGE, withRepository } from './repository.js';
import { type Tool, wordOf } from './tool.js';
import { sizeInWords } from './unread.js';

const FORMS = 'give exactly one of {"pattern": "<text>"} and {"entry": "<commit>:<path>"}';

const argsSchema = z
  .strictObject({
    pattern: z
      .string('must be text')
      .min(1, 'is empty')
      .max(limits.FILE_CAP_BYTES, 'is longer than any pattern')
      .refine((text) => text.isWellFormed(), { message: 'has an unpaired surrogate' })
      .optional()
      .describe(
        'The literal text to find, case-sensitive; it may span lines. The answer names every entry that holds it.',
      ),
    entry: z
      .string('must be text')
      .max(limits.PATH_MAX_BYTES, 'is longer than any address')
      .optional()
      .describe('The address of one entry, `<commit>:<path>`, as an answer to a pattern gives it: that entry, whole.'),
  })
  .refine(({ pattern, entry }) => pattern === undefined || entry === undefined, 'both pattern and entry are given')
  .refine(({ pattern, entry }) => pattern !== undefined || entry !== undefined, 'neither pattern nor entry is given');
/** What a search of history is asked, validated: one of the two. */
export type SearchHistoryArgs = z.infer<typeof argsSchema>;

const hitsSchema = z.strictObject({
  text: z.string().describe('An address a line, newest first; then the newest entries, each in a frame.'),
  addresses: z.array(z.string()).describe('The addresses again, exactly: each is an `entry`.'),
  truncated: z.boolean().describe('True exactly when the answer is not everything.'),
  stopped: z.string().optional().describe('Only when truncated: which bound ended it, and how to go on.'),
});
const valueSchema = z.union([
  hitsSchema,
  z.strictObject({ text: z.string() }),
  z.strictObject({ base64: z.string().describe('The bytes of an entry that is not UTF-8.') }),
]);
/** The answer to a pattern. */
export type HistoryHits = z.infer<typeof hitsSchema>;
/** The answer: to a pattern, or an entry's text or bytes. */
export type SearchHistoryValue = z.infer<typeof valueSchema>;

/** The caps of one answer to a pattern. Only the tool, its tests and the bench set them. */
export interface HistoryCaps {
  /** Bytes of all addresses. */
  readonly addressesBytes: number;
  /** Entries in a frame. */
  readonly shown: number;
}
const CAPS: HistoryCaps = { addressesBytes: limits.HISTORY_ADDRESSES_MAX_BYTES, shown: limits.HISTORY_SHOWN };

/** The tool, with the caps of limits.ts. Cost: linear in the commits that the branches reach and in what they added. */
export const searchHistory: Tool<SearchHistoryArgs, SearchHistoryValue> = {
  name: 'search_history',
  title: 'Find what was said and committed',
  description: [
    'Finds a literal text in every entry (a message or a summary) that an agent ever committed, also those that were',
    'squashed or removed since. Answers addresses `<commit>:<path>`, newest first, and shows the newest',
    `${limits.HISTORY_SHOWN} entries, long ones by their two ends. Pass an address as \`entry\` for that entry byte for byte.`,
    'There is no limit and no scope: narrow the pattern. `truncated` says that there is more, `stopped` how to go on.',
  ].join(' '),
  forms: FORMS,
  args: argsSchema,
  value: valueSchema,
  readOnly: true,
  timeMs: limits.CALL_TIME_MS,
  asked: (args) => wordOf(args, 'entry') || wordOf(args, 'pattern'),
  isOffered,
  run: (call, { pattern, entry }) =>
    // The schema lets exactly one of them through.
    entry === undefined ? searchHistoryWith(call, pattern ?? '', CAPS) : readEntry(call, entry),
};

// ---- who it is for ----

/** Whose branches are read where none were named. */
const DEFAULT_BRANCHES: readonly string[] = ['agents/*'];

const branchesOf = (call: Call): readonly string[] => call.history.branches ?? DEFAULT_BRANCHES;

/**
 * Only where branches were named for this reader, or nothing in the city is closed to it: else the transcripts of a
 * closed building would be everybody's. A deny pattern closes something too.
 */
async function isOffered(call: Call): Promise<Outcome<boolean>> {
  const { branches } = call.history;
  if (branches !== null) return ok(branches.length > 0);
  if (call.denies) return ok(false);
  const listing = listRoot(call, '');
  if (!listing.ok) return listing;
  await call.askAll(listing.value);
  // What is no address is no building: nobody reads it, and nobody is entered as its reader.
  const buildings = listing.value.filter(({ name, nameable }) => nameable && segmentRule(name) === undefined);
  return ok(buildings.every(({ name }) => isReservedSegment(name) || call.mayTell(name)));
}

// ---- a pattern ----

/** The whole answer to a pattern, with caps of the caller's choosing. */
export function searchHistoryWith(call: Call, pattern: string, caps: HistoryCaps): Promise<Outcome<HistoryHits>> {
  const at: Asked = { action: call.action, asked: pattern };
  return withRepository(call, at, 'any', (repository) => new Searching(call, at, repository, pattern, caps).run());
}

/** Why an answer is not everything. */
type Stop = 'addresses' | 'budget' | 'memory';

/** One search under way: what its pages gave, checked as it came in. Holds what the caps allow and one page. */
class Searching {
  readonly #call: Call;
  readonly #at: Asked;
  readonly #repository: Opened;
  readonly #pattern: Uint8Array;
  readonly #caps: HistoryCaps;
  readonly #hits: HistoryEntry[] = [];
  /** Of the first hits, in their order. */
  readonly #frames: string[] = [];
  /** Of each hit, so that one entry is one; bounded as the addresses are. */
  readonly #known = new Set<string>();
  #addressesBytes = 0;
  #commits = 0;
  #stop: Stop | undefined;

  constructor(call: Call, at: Asked, repository: Opened, pattern: string, caps: HistoryCaps) {
    this.#call = call;
    this.#at = at;
    this.#repository = repository;
    this.#pattern = new TextEncoder().encode(pattern);
    this.#caps = caps;
  }

  async run(): Promise<Outcome<HistoryHits>> {
    const { guest } = this.#call.open(this.#repository.guest);
    this.#leave(true);
    const refusal = await this.#walk(guest);
    return refusal === undefined ? ok(this.#value(this.#stop)) : refused(refusal);
  }

  /** Page by page, to the end or a bound. The newest entries are fetched as they are met, while there is time. */
  async #walk(guest: Guest): Promise<AxError | undefined> {
    const { oidBytes } = this.#repository;
    const branches = branchesOf(this.#call);
    let history = guest.history({
      pattern: this.#pattern,
      branches,
      directories: ENTRY_DIRECTORIES,
      oidBytes,
      ...PAGE,
    });
    for (;;) {
      if (!history.ok) return this.#end(history.fault);
      const before = this.#hits.length;
      this.#take(history.page);
      const refusal = await this.#show();
      if (refusal !== undefined) return refusal;
      if (this.#stop !== undefined || history.page.ending === 'complete') return undefined;
      if (history.page.ending === 'budget' || this.#call.meter.late()) return this.#end('too-large');
      this.#leave(this.#hits.length > before);
      if (!(await this.#call.goOn())) return cancelled(this.#at);
      history = guest.older();
    }
  }

  /** Without another page. What was found before a budget or the guest's memory was used up is exact. */
  #end(fault: GitFault): AxError | undefined {
    if (this.#call.meter.spent !== undefined) this.#stop = 'budget';
    else if (fault === 'too-large') this.#stop = 'memory';
    else return faultError(this.#call, this.#at, fault);
    return undefined;
  }

  /** What the call answers if it is ended from outside now. */
  #leave(isNews: boolean): void {
    this.#call.partial(
      () => this.#value('budget'),
      isNews,
      () => ({ entries: this.#commits, matches: this.#hits.length }),
    );
  }

  // ---- hits ----

  #take(page: HistoryPage): void {
    if (page.commits < this.#commits) throw new GuestFault('fewer commits than before');
    this.#commits = page.commits;
    for (const entry of page.entries) {
      if (this.#stop === undefined) this.#takeEntry(entry);
    }
  }

  #takeEntry(entry: HistoryEntry): void {
    const { commit, path, blob } = entry;
    if (path.length > limits.PATH_MAX_BYTES) throw new GuestFault('a path longer than any');
    const shown = shownText(path);
    if (!isOid(commit, this.#repository) || !isOid(blob, this.#repository))
      throw new GuestFault('no name of an object');
    if (!ENTRY_DIRECTORIES.some((directory) => shown.startsWith(`${directory}/`))) throw new GuestFault('no entry');
    // A path that is no address cannot be asked for: git itself makes none. What is denied by pattern is not met.
    // Nothing of these is kept: a guest could name them for as long as it has time.
    if (!isEntryPath(shown) || this.#call.isDenied(shown)) return;
    this.#addressesBytes += utf8Bytes(addressOf(commit, path)) + 1;
    if (this.#addressesBytes > this.#caps.addressesBytes) {
      this.#stop = 'addresses';
      return;
    }
    const identity = `${blob} ${path.join()}`;
    if (this.#known.has(identity)) throw new GuestFault('one entry twice');
    this.#known.add(identity);
    this.#hits.push(entry);
  }

  // ---- frames ----

  /** Fetches those of the newest entries that were met since, each proved and held against the pattern. */
  async #show(): Promise<AxError | undefined> {
    const newest = this.#hits.slice(0, this.#caps.shown);
    for (const entry of newest.slice(this.#frames.length)) {
      const refusal = await this.#fetch(entry);
      if (this.#call.meter.spent !== undefined) this.#stop = 'budget';
      if (refusal !== undefined || this.#stop === 'budget') return this.#stop === 'budget' ? undefined : refusal;
    }
    return undefined;
  }

  async #fetch(entry: HistoryEntry): Promise<AxError | undefined> {
    const { commit, path, blob } = entry;
    const passing = new Passing(this.#pattern);
    // That a branch leads to the commit is why the guest met it.
    const asked = { commit, path, branches: [], blobMaxBytes: limits.ENTRY_MAX_BYTES };
    const followed = await follow(this.#call, this.#at, this.#repository, asked, (piece) => passing.take(piece));
    const address = spelled(commit, path);
    if (!followed.ok && followed.error.code !== 'E_LIMIT') return followed.error;
    if (followed.ok && followed.value.kind === 'not-file') passing.take(moduleText(followed.value.module));
    if (followed.ok && (nameOf(followed.value) !== blob || !passing.holds)) throw new GuestFault('a hit that is none');
    // Over a budget of the call it is not shown, and the answer says why; over that of one object it is only named.
    if (this.#call.meter.spent !== undefined) return undefined;
    const body = followed.ok ? passing.body(address) : `[... entry too large to show; full record: ${address} ...]`;
    this.#frames.push(framed(address, body));
    return undefined;
  }

  // ---- the answer ----

  #value(stop: Stop | undefined): HistoryHits {
    const lines = this.#hits.map(({ commit, path }) => `${spelled(commit, path)}\n`);
    return {
      text: [...lines, ...this.#frames].join(''),
      addresses: this.#hits.map(({ commit, path }) => addressOf(commit, path)),
      truncated: stop !== undefined,
      ...(stop !== undefined && { stopped: this.#stopped(stop) }),
    };
  }

  #stopped(stop: Stop): string {
    switch (stop) {
      case 'addresses':
        return `stopped: its addresses reached ${sizeInWords(this.#caps.addressesBytes)}; narrow it with a longer pattern`;
      case 'memory':
        return 'stopped: the sandboxed component’s memory is full; what is older was not looked at';
      case 'budget': {
        const { budget, value } = this.#call.meter.spent ?? { budget: 'time', value: this.#call.meter.timeMs };
        return `stopped: ${SPENT_SENTENCES[budget](value)}; what is older was not looked at`;
      }
    }
  }
}

/** The name of the object that an entry is: of a blob, or of the commit of another repository. */
const nameOf = (followed: Followed): string | undefined =>
  followed.kind === 'blob' ? followed.oid : followed.kind === 'not-file' ? followed.module : undefined;

/** Another repository's commit, as git shows it where a file would be: so it is found, and there is no blob to ask for. */
const moduleText = (commit: string | undefined): Uint8Array =>
  new TextEncoder().encode(commit === undefined ? '' : `Subproject commit ${commit}\n`);

const isOid = (text: string, { oidBytes }: Opened): boolean => text.length === 2 * oidBytes && /^[0-9a-f]+$/.test(text);

// ---- one entry ----

/** Below one of the two directories, in plain segments; any other byte is a byte. */
function isEntryPath(path: string): boolean {
  const [directory, ...segments] = path.split('/');
  return (
    ENTRY_DIRECTORIES.some((known) => known === directory) &&
    segments.length > 0 &&
    segments.every((segment) => !['', '.', '..'].includes(segment)) &&
    !path.includes('\0') &&
    path.isWellFormed()
  );
}

async function readEntry(call: Call, entry: string): Promise<Outcome<SearchHistoryValue>> {
  const at: Asked = { action: call.action, asked: entry };
  const [, commit = '', path = ''] = /^([0-9a-f]{40}|[0-9a-f]{64}):(.*)$/s.exec(entry) ?? [];
  if (!isEntryPath(path)) return refused(noAddress(at));
  if (call.isDenied(path)) return refused(denied(at, { kind: 'pattern' }));
  return withRepository(call, at, 'any', (repository) => entryIn(call, at, repository, commit, path));
}

async function entryIn(
  call: Call,
  at: Asked,
  repository: Opened,
  commit: string,
  path: string,
): Promise<Outcome<SearchHistoryValue>> {
  if (!isOid(commit, repository)) return refused(noCommit(at));
  const asked = {
    commit,
    path: new TextEncoder().encode(path),
    branches: branchesOf(call),
    blobMaxBytes: limits.INTERVAL_CAP_BYTES,
  };
  const bytes = new Collected();
  const followed = await follow(call, at, repository, asked, (piece) => bytes.take(piece));
  if (followed.ok) return entryValue(at, followed.value, bytes);
  const isTooLarge = followed.error.code === 'E_LIMIT' && call.meter.spent === undefined;
  return refused(isTooLarge ? tooLarge(at) : followed.error);
}

function entryValue(at: Asked, followed: Followed, collected: Collected): Outcome<SearchHistoryValue> {
  switch (followed.kind) {
    case 'blob':
      return valueOfBytes(at, collected.bytes());
    case 'absent':
    case 'not-file':
      return refused(noEntry(at));
    case 'no-commit':
    case 'unreachable':
      return refused(noCommit(at));
  }
}

function valueOfBytes(at: Asked, bytes: Uint8Array): Outcome<SearchHistoryValue> {
  const text = strictText(bytes);
  if (text !== undefined) return ok({ text });
  const base64 = base64Of(bytes);
  return base64.length > limits.INTERVAL_CAP_BYTES ? refused(tooLarge(at)) : ok({ base64 });
}

// ---- refusals ----

const ADDRESS_FORM = 'pass it exactly as an answer to a pattern gives it: <commit>:messages/… or <commit>:summary/…';

const noAddress = (at: Asked): AxError => invalidArgs(at, 'it is no address of an entry', ADDRESS_FORM);

const noEntry = (at: Asked): AxError => invalidArgs(at, 'there is no such entry in that commit', ADDRESS_FORM);

/** Whether it is there and nobody may see it, or is not there, is not told apart. */
const noCommit = (at: Asked): AxError =>
  invalidArgs(at, 'no branch that is read here leads to such a commit', ADDRESS_FORM);

const tooLarge = (at: Asked): AxError =>
  limitReached(
    at,
    `the entry is larger than one answer carries (${sizeInWords(limits.INTERVAL_CAP_BYTES)})`,
    'search for a pattern in it: an answer to one shows a long entry by its two ends',
  );
