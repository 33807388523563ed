/**
 * Every number of Portcullis, once. A limit names its unit last and says what it bounds, who could
 * abuse its absence, and why it has this value. Relations between limits are asserted at the end.
 * Everything else links here and never writes a number again. Imports nothing.
 */

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

// ---- what an answer carries ----

/** Hits in one `search` answer. A model cannot use more, and a one-letter needle would bring millions. */
export const MATCH_CAP = 64;
/** Bytes of one line shown in a hit. Without it, one line of minified code would be the whole answer. */
export const LINE_CAP_BYTES = 512;
/** Lines of context on each side of a hit; what is asked beyond it is clamped. */
export const CONTEXT_CAP_LINES = 4;
/** Bytes of the largest file `search` scans: larger ones are named unread, `read` takes them by interval. */
export const FILE_CAP_BYTES = 1 * MiB;
/** Entries of `unread` that are listed; all are counted. */
export const UNREAD_SHOWN = 16;
/** Bytes of hit text in one `search` answer, and of text in one `read` answer (but for a long first line). */
export const INTERVAL_CAP_BYTES = 64 * KiB;
/** Lines in one `read` answer; more is clamped. */
export const READ_CAP_LINES = 512;
/** Bytes of a first line that `read` delivers whole; a longer one goes on with `next_byte`. */
export const LINE_MAX_BYTES = 1 * MiB;
/** Up to this size a file is judged and hashed whole; beyond it a pass would take many seconds. */
export const READ_WHOLE_MAX_BYTES = 8 * GiB;
/** How far past its size at the open a growing file is read. Without it, a log that grows faster than we read never ends. */
export const GROWTH_SLACK_BYTES = 1 * MiB;
/** Entries of `nearby` in a refusal: what a refusal costs the reader's window. */
export const NEARBY_CAP = 16;
/** Bytes of the longest marker that stands where bytes were cut (`truncationMarker`). */
export const MARKER_MAX_BYTES = 64;
/** Bytes of the caller's own words repeated in a refusal. */
export const ECHO_CAP_BYTES = 512;

// ---- what a path may be ----

/** Links followed on the way to one place (Linux itself allows 40). */
export const LINK_HOPS_MAX = 40;
/** Segments of one resolved path, links expanded: a link bomb of long targets ends here. */
export const PATH_STEPS_MAX = 4_096;
/** Bytes of one path that a guest or caller may name. */
export const PATH_MAX_BYTES = 64 * KiB;
/** Directories below one another that a walk enters. */
export const DEPTH_MAX = 1_024;
/** Bytes of a rules file. */
export const RULES_MAX_BYTES = 64 * KiB;
/** Names at the top of a city: each is asked of the policy before a walk. */
export const TOP_ENTRIES_MAX = 10_000;
/** Names asked of the embedder's policy at once. */
export const POLICY_BATCH = 256;

// ---- what one call may cost ----

/** Names in one directory. Listing 10^6 names takes seconds that nothing interrupts, and 581 MB. */
export const DIR_ENTRIES_MAX = 200_000;
/** Names the system is asked for at once where they are counted: how many are too many before anybody sees it. */
export const LISTING_BATCH_ENTRIES = 4_096;
/** Directory size on disk, in bytes, up to which a known file system cannot hold more than DIR_ENTRIES_MAX names. */
export const DIR_SMALL_BYTES = 1 * MiB;
/** Directory descriptors a call holds; more are closed and opened again on the way back. */
export const HELD_DIRS_MAX = 64;
/** Handles a guest may hold at once (a walk needs one a level, and a file). */
export const HANDLES_MAX = 2 * DEPTH_MAX;
/** Bytes one `read` of the guest may bring, whatever length it asks. */
export const GUEST_READ_MAX_BYTES = 8 * MiB;
/** Opens in one call. */
export const CALL_OPENS_MAX = 4_000_000;
/** Names listed in one call. */
export const CALL_ENTRIES_MAX = 8_000_000;
/** Bytes read in one call: more than the largest file that is read whole. */
export const CALL_BYTES_MAX = 64 * GiB;
/** Names of one building in one call: one tenant's bomb must not spoil everybody's search. */
export const BUILDING_ENTRIES_MAX = 500_000;
/** Opens in one building in one call. */
export const BUILDING_OPENS_MAX = 1_000_000;
/** Bytes read of one building in one `search`. */
export const BUILDING_BYTES_MAX = 8 * GiB;
/** Memory of the guest, in WebAssembly pages of 64 KiB; declared in the module and checked before it runs. */
export const GUEST_MEMORY_MAX_PAGES = 4_096;
/** Entries of the guest's tables of functions: each is memory of the host's, taken anew for each call. */
export const GUEST_TABLE_MAX = 1_024;
/** Names a page of `search` takes up before the host looks at the clock, the caller's signal and who waits: a few ms. */
export const PAGE_ENTRIES = 128;
/** Bytes a page of `search` or `read` passes before the same. */
export const PAGE_BYTES = 64 * MiB;
/** Bytes of the longest name a file system gives. */
export const NAME_MAX_BYTES = 255;

// ---- the catalog of a run ----

/** Names of one reading room: each may cost an open a shelf, and an entry that crosses to the worker with each call. */
export const CATALOG_ENTRIES_MAX = 256;
/** Names on one shelf, of all its sections: what a scan lists is in memory once. People put them there, by hand. */
export const SHELF_NAMES_MAX = 20_000;
/** Bytes of a document on a shelf, and of a SKILL.md: each is read whole for its hash, once a run. */
export const CATALOG_DOCUMENT_MAX_BYTES = 4 * MiB;
/** Bytes of all texts that external shelves carry: they cross to the worker with each call. */
export const CATALOG_CARRIED_MAX_BYTES = 1 * MiB;
/** Bytes of the one line that says what an entry is. */
export const DISCLOSURE_CAP_BYTES = 512;
/** External shelves of one city: each holds a descriptor as long as the city is entered. */
export const SHELVES_MAX = 16;

// ---- history ----

/** Bytes of a repository's configuration. Git reads any; two keys of it are read here, and a person's has some KiB. */
export const REPOSITORY_CONFIG_MAX_BYTES = 1 * MiB;
/** Commits and objects a page of `history` or `trail` takes up before the host looks at the clock and the caller's signal. */
export const HISTORY_PAGE_WORK = 4_096;
/** Bytes a page of them inflates before the same: a fraction of a second. */
export const HISTORY_PAGE_BYTES = 16 * MiB;
/** Entries of a `search_history` answer that are shown, the newest; the others are addresses. */
export const HISTORY_SHOWN = 5;
/** Bytes of a shown entry's beginning, and of its end; one of at most both together is whole. */
export const ENTRY_END_BYTES = 4 * KiB;
/** Bytes of all addresses in one `search_history` answer, which has them twice. A one-letter pattern would bring thousands. */
export const HISTORY_ADDRESSES_MAX_BYTES = 16 * KiB;
/** Bytes of an entry that is shown by its two ends: read through and proved, in pieces. */
export const ENTRY_MAX_BYTES = 1 * GiB;
/** Bytes of a file of a commit that is read: proved as a whole before a line of it leaves, so held as a whole. */
export const COMMIT_FILE_MAX_BYTES = 64 * MiB;

// ---- time, workers, queues ----

/** Time of one call from when a worker takes it. */
export const CALL_TIME_MS = 30_000;
/** The same for `read`, which passes over the whole file. */
export const READ_TIME_MS = 120_000;
/** What a worker has beyond the deadline to answer by itself before it is ended. */
export const DEADLINE_GRACE_MS = 150;
/** How often a call that found nothing new tells how far it is. Without it, pages of nothing flood the embedder. */
export const PARTIAL_EVERY_MS = 20;
/** Milliseconds of a walk before the command line shows how far it is. Shorter ones would only flicker. */
export const PROGRESS_AFTER_MS = 500;
/** Milliseconds between two such lines: as often as an eye follows, and a terminal is not flooded. */
export const PROGRESS_EVERY_MS = 100;
/** Milliseconds that a command's closing may take once its answer is out. Threads end at once, unless the disk holds one. */
export const CLOSE_PATIENCE_MS = 2_000;
/** Calls that wait for a worker; the next one is refused with `retry: "yes"`. */
export const QUEUE_MAX = 1_024;
/** The same of one tenant: a flood fills its own queue, not everybody's. */
export const TENANT_QUEUE_MAX = 128;
/** How long a refused caller should wait. */
export const RETRY_AFTER_MS = 250;
/**
 * How long a walk goes on alone before free threads are asked to join: what a small search takes, so that it costs no
 * more than it did.
 */
export const SHARE_AFTER_MS = 3;
/** Parts that the rest of a shared walk is cut into: some for each thread, since nobody knows how large they are. */
export const SHARED_PARTS_MAX = 24;
/** Threads in one walk. Each holds a guest of its own, and more of them mostly wait for the same disk. */
export const WALK_THREADS_MAX = 4;
/** How often a walk tries to find out where it stands; a guest that hides it costs a sort of its names each time. */
export const SHARE_TRIES_MAX = 8;
/** What a joined thread has to leave, once called back, before it is ended: many pages of an honest guest. */
export const LEAVE_GRACE_MS = 500;
/** How long a call may wait for a worker. */
export const QUEUE_TIME_MS = 30_000;
/** How long entering a city may take: a mount that hangs must not hang the embedder. */
export const ENTER_TIME_MS = 10_000;
/** Threads that enter cities: more than one, so that a root that hangs does not hold up the next city. */
export const KEEPER_THREADS_MAX = 4;
/** How long a thread that was ended may take to end before it counts as stuck: a loop of the guest ends within 10 ms. */
export const STUCK_AFTER_MS = 1_000;
/** Threads stuck in system calls that a runner leaves behind: each keeps its stack, its heap and its guest's memory. */
export const STUCK_WORKERS_MAX = 16;
/** The same of one city: a mount that hangs must not use up what there is for all. */
export const CITY_STUCK_WORKERS_MAX = 2;
/** Heap of a worker, in MB: the host's own objects, not the guest's memory. */
export const WORKER_HEAP_MB = 512;

// ---- the block store ----

/**
 * Bytes of a block that is put or got whole: it is in memory twice then, with who asked and in the thread. Larger ones
 * that others put there are read by interval.
 */
export const BLOCK_MAX_BYTES = 256 * MiB;
/**
 * Bytes of one block's origins. Each is a line and all are read to judge the block, so that without an end whoever
 * stores the same block for ever makes each read of it slower.
 */
export const ORIGINS_MAX_BYTES = 16 * MiB;
/** Bytes read at once of a file whose lines are counted for a range: so long nobody asks the time. */
export const SPAN_CHUNK_BYTES = 256 * KiB;
/** Bytes that the first buffer for a file of the block store has; it grows with the file. Most origins fit it. */
export const STORE_CHUNK_BYTES = 64 * KiB;
/** How often a block is written again because its unfinished file was taken away: more often, somebody does it on purpose. */
export const PUT_ATTEMPTS_MAX = 8;
/** How old an unfinished file is when whoever writes it is taken for gone: a process of its number may be another by then. */
export const LEFTOVER_AGE_MS = 60 * 60_000;

// ---- receipts ----

/**
 * How long a sink may take over one append. An fsync behind a busy disk's queue takes a second; a sink without a limit
 * would hold back every answer of its tenants for ever.
 */
export const RECEIPT_TIME_MS = 5_000;
/** Lines in one append: what is made again from nothing if it fails. */
export const RECEIPT_GROUP_MAX_LINES = 1_024;
/** Decisions of one log that wait for an append. Refused arguments pass no queue, so a flood of them ends here. */
export const RECEIPT_QUEUE_MAX = 8_192;
/** Bytes of a receipts key: the one length BLAKE3 takes for its keyed mode. */
export const RECEIPT_KEY_BYTES = 32;
/** Bytes of each text of a caller or embedder that is kept in a line; a log of long needles would be a disk full. */
export const RECEIPT_TEXT_MAX_BYTES = 1 * KiB;
/** Bytes of one line. Whoever reads a log need not hold more. */
export const RECEIPT_LINE_MAX_BYTES = 64 * KiB;
/** Bytes of a receipt file after which the next line begins another: about half a million decisions. */
export const RECEIPT_FILE_MAX_BYTES = 256 * MiB;

// ---- the reasons behind the numbers, as relations ----

/** Window of the smallest model served, in tokens, and the worst ratio of bytes to a token. */
const WINDOW_TOKENS = 128_000;
const WORST_BYTES_PER_TOKEN = 2.5;
/** No one answer may take a larger share of the window. */
const ANSWER_SHARE_MAX = 0.35;

/** Each relation with its name; `host` refuses to load if one does not hold, and a test shows each. */
export const RELATIONS: readonly (readonly [claim: string, holds: boolean])[] = [
  [
    'one answer stays under 35 % of the window',
    INTERVAL_CAP_BYTES / WORST_BYTES_PER_TOKEN / WINDOW_TOKENS < ANSWER_SHARE_MAX,
  ],
  [
    'nor does an answer of history take more, its longest addresses framed',
    (4 * HISTORY_ADDRESSES_MAX_BYTES + HISTORY_SHOWN * (2 * ENTRY_END_BYTES + 512)) /
      WORST_BYTES_PER_TOKEN /
      WINDOW_TOKENS <
      ANSWER_SHARE_MAX,
  ],
  [
    'a hit with all its context fits one answer',
    (2 * CONTEXT_CAP_LINES + 1) * (LINE_CAP_BYTES + MARKER_MAX_BYTES) < INTERVAL_CAP_BYTES,
  ],
  [
    'a scanned file, and the byte that proves it too large, come in one read',
    FILE_CAP_BYTES + 1 <= GUEST_READ_MAX_BYTES,
  ],
  ['one directory at most fits its building’s share', DIR_ENTRIES_MAX <= BUILDING_ENTRIES_MAX],
  [
    'a building’s names fit the guest’s memory',
    BUILDING_ENTRIES_MAX * (NAME_MAX_BYTES + 33) < GUEST_MEMORY_MAX_PAGES * 64 * KiB,
  ],
  ['a walk at full depth has its handles', DEPTH_MAX + 2 <= HANDLES_MAX],
  ['the largest file read whole fits the call', READ_WHOLE_MAX_BYTES + GROWTH_SLACK_BYTES <= CALL_BYTES_MAX],
  [
    'a directory of DIR_SMALL_BYTES holds at most DIR_ENTRIES_MAX names of 12 bytes',
    DIR_SMALL_BYTES / 12 <= DIR_ENTRIES_MAX,
  ],
  ['a block that is put whole can be read whole', BLOCK_MAX_BYTES <= READ_WHOLE_MAX_BYTES],
  ['one origin of the longest place fits its block’s origins', PATH_MAX_BYTES + NAME_MAX_BYTES < ORIGINS_MAX_BYTES],
  ['one tenant does not fill the queue', TENANT_QUEUE_MAX * 2 <= QUEUE_MAX],
  ['one city does not leave all stuck workers behind', CITY_STUCK_WORKERS_MAX * 2 <= STUCK_WORKERS_MAX],
  ['the root’s names fit one directory', TOP_ENTRIES_MAX <= DIR_ENTRIES_MAX],
  [
    'a receipt with eight texts, each character of them escaped, fits its line',
    8 * 6 * (RECEIPT_TEXT_MAX_BYTES + MARKER_MAX_BYTES) + 4 * KiB <= RECEIPT_LINE_MAX_BYTES,
  ],
  ['every waiting call of every tenant can have its receipt', QUEUE_MAX <= RECEIPT_QUEUE_MAX],
];

for (const [claim, holds] of RELATIONS) {
  if (!holds) throw new Error(`limits.ts: not true: ${claim}`);
}
