/**
 * The guest's memory: two stacks of chunks, and the places where the host's answers land.
 * Stands under everything else in guest/; nothing here knows what the bytes mean.
 *
 *   walk   lives as long as the search or the reading: needle, directories that are open, their names.
 *          Stack discipline: whoever takes a mark gives it back.
 *   page   lives until the next export is called: hits, paths, what the host lifts. Arguments land here too,
 *          on top of the page before; what must outlive the call is copied.
 *
 * A chunk, drawn from its lowest byte (address = the chunk's name):
 *
 *   0        4        8                                       size
 *   | below  | size   | bytes, handed out upwards ……………………… |
 *
 * `below` is the chunk under it in its arena, or the next one in the list of free chunks. Chunks go back to that list
 * whole and are never merged, so memory never shrinks; it grows to the most that was ever held at once, rounded up.
 * When it cannot grow, the guest traps: half an answer would be a lie.
 */

const CHUNK_BYTES: usize = 64 << 10;
const HEADER_BYTES: usize = 8;

// @ts-ignore: decorator
@unmanaged
class Chunk {
  below: Chunk | null;
  size: usize;
}

/** Where an arena stood: its top then. */
export type Mark = usize;
const NOTHING: Mark = 0;

/** A stack of chunks. All zero is the empty arena. */
// @ts-ignore: decorator
@unmanaged
export class Arena {
  chunk: Chunk | null;
  /** The next free byte, and where the chunk ends. */
  top: usize;
  end: usize;

  /**
   * `size` bytes at a multiple of `align` (a power of two, at most 8). Not zeroed. Size 0 gives an address that no
   * one may touch. Traps when memory is spent. O(1), but for a new chunk: O(free chunks).
   */
  alloc(align: usize, size: usize): usize {
    let at = (this.top + align - 1) & ~(align - 1);
    if (at < this.top || at > this.end || this.end - at < size || this.chunk === null) {
      this.push(size);
      at = this.top; // a chunk's first byte is aligned to 8
    }
    this.top = at + size;
    return at;
  }

  /** A copy of `size` bytes. O(size). */
  keep(from: usize, size: usize): usize {
    const at = this.alloc(1, size);
    memory.copy(at, from, size);
    return at;
  }

  /** Gives back the tail of the newest allocation: it now ends at `top`. */
  shrink(top: usize): void {
    this.top = top;
  }

  /** Where the arena stands now. */
  mark(): Mark {
    return this.top;
  }

  /** Gives back everything allocated since the mark was taken. O(chunks given back). */
  release(mark: Mark): void {
    while (this.chunk !== null && !this.isHere(mark)) this.pop();
    this.top = mark;
  }

  /** Gives back everything. */
  reset(): void {
    this.release(NOTHING);
  }

  /** Whether the mark was taken in the newest chunk: a top lies behind the header, so no two chunks share one. */
  private isHere(mark: Mark): bool {
    return mark >= changetype<usize>(this.chunk) + HEADER_BYTES && mark <= this.end;
  }

  private push(size: usize): void {
    const fresh = takeChunk(size);
    fresh.below = this.chunk;
    this.enter(fresh);
  }

  private pop(): void {
    const gone = this.chunk;
    if (gone === null) return;
    const below = gone.below;
    gone.below = free;
    free = gone;
    if (below === null) {
      this.chunk = null;
      this.top = this.end = 0;
    } else this.enter(below);
  }

  private enter(chunk: Chunk): void {
    const at = changetype<usize>(chunk);
    this.chunk = chunk;
    this.top = at + HEADER_BYTES;
    this.end = at + chunk.size;
  }
}

/** What lives as long as the call: the walk's frames and their names, given back frame by frame. */
export const walkArena = changetype<Arena>(memory.data(12, 4));
/** What lives until the host has lifted one page: its texts, addresses and records; emptied before the next. */
export const pageArena = changetype<Arena>(memory.data(12, 4));

let free: Chunk | null = null;
let wild: usize = __heap_base;

/** The first free chunk that holds `size` bytes, or new memory. */
function takeChunk(size: usize): Chunk {
  if (size > <usize>(1 << 30)) unreachable(); // more than the declared maximum; keeps the sums below from wrapping
  const whole = size + HEADER_BYTES;
  let before: Chunk | null = null;
  let chunk = free;
  while (chunk !== null) {
    if (chunk.size >= whole) {
      if (before === null) free = chunk.below;
      else before.below = chunk.below;
      return chunk;
    }
    before = chunk;
    chunk = chunk.below;
  }
  // Powers of two above the usual size: growing wishes must find the chunk of the wish before, not strand it.
  const room = whole <= CHUNK_BYTES ? CHUNK_BYTES : (<usize>1 << (32 - clz<u32>(<u32>whole - 1)));
  const fresh = changetype<Chunk>(reserve(room));
  fresh.size = room;
  return fresh;
}

/** `size` bytes of new memory for good, at a multiple of 8. Traps when the declared maximum is reached. */
export function reserve(size: usize): usize {
  const at = (wild + 7) & ~7;
  const end = <u64>at + <u64>size;
  const have = <u64>memory.size() << 16;
  if (end > have && (end > 0xffff_ffff || memory.grow(<i32>((end - have + 0xffff) >> 16)) < 0)) unreachable();
  wild = <usize>end;
  return at;
}

/** The same, or 0 if more than `most` bytes of memory would then be in use: for what may end early instead. */
export function reserveWithin(size: usize, most: usize): usize {
  return wild + size + 7 > most ? 0 : reserve(size);
}

// ---- where what the host sends lands ----

let landing: usize = 0;
let landingRoom: usize = 0;
let target: Arena = pageArena;

/** Until `settle`, what the host sends lands at `into` and is at most `room` bytes. */
export function landAt(into: usize, room: usize): void {
  landing = into;
  landingRoom = room;
}

/** Until `settle`, what the host sends lands on top of `arena`. */
export function landOn(arena: Arena): void {
  target = arena;
}

/** What the host sends lands in the page again: arguments, between the calls. */
export function settle(): void {
  landing = 0;
  target = pageArena;
}

/**
 * The canonical ABI's allocator: where the host may write what it is about to send. With a place prepared it is that
 * place, so that a read can go straight into the file buffer; the host may ask for all of it and shrink afterwards.
 * Sending more than the room that was offered is a trap.
 */
export function cabi_realloc(old: usize, oldSize: usize, align: usize, size: usize): usize {
  if (landing !== 0) {
    if (size > landingRoom || (old !== 0 && old !== landing)) unreachable();
    return landing;
  }
  if (old === 0) return target.alloc(align, size);
  const newest = old + oldSize === target.top;
  if (size <= oldSize) {
    if (newest) target.shrink(old + size);
    return old;
  }
  if (newest && target.end - old >= size) {
    target.shrink(old + size);
    return old;
  }
  const moved = target.alloc(align, size);
  memory.copy(moved, old, oldSize);
  return moved;
}
