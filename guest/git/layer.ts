/**
 * One file of a commit-graph (gitformat-commit-graph): that it holds, and what it says of a commit. Stands between
 * graph.ts (which files there are, and in which order) and sorted.ts, blocks.ts (the bytes), digest.ts.
 *
 *   file     | CGPH | 1 | hash: 1 or 2 | chunks | layers below | table | chunks … | hash of all before it |
 *   table    | id, 4 | offset, 8 |    for each chunk, and once more with the id 0: where the chunks end
 *   OIDF     256 × 4, the fan-out    OIDL  the names, sorted    BASE  the hashes of the layers below
 *   CDAT     | tree | parent, 4 | parent, 4 | generation: 30 bits, date: 34 bits |    for each commit
 *   EDGE     | parent, 4 |    from the second parent on, of commits with three and more; the last one has its highest bit
 *   BIDX     | end, 4 | for each commit: where its filter of changed paths ends in BDAT, and the next one begins
 *   BDAT     | version, 4 | hashes, 4 | bits a path, 4 | filters … |
 *
 * Parents are places: positions counted from the first commit of the lowest layer. Other chunks are not read.
 *
 * A file is believed once its shape was checked and its hash was that of all its bytes. That says that no disk spoiled
 * it, and not that it is right: whoever writes it can write the hash too. So each position is checked where it is used.
 */

import { addHeld, at as blockAt, BlockFile, bytes, end as blockEnd, peek, seek } from './blocks';
import { beginDigest, digest, endDigest } from './digest';
import { Fault } from './fault';
import { copyOid, isSameOid, oidBytes, OID_MAX } from './oid';
import { findSorted, isListed, rank, said, word } from './sorted';

/** In place of a parent: there is none. */
export const NO_PARENT: u32 = 0x7000_0000;
/** Of the second parent: the others stand in EDGE, from here on. Of a parent in EDGE: it is the last. */
export const EDGE_BIT: u32 = 0x8000_0000;

/** What there is room for of a date; git puts the rest away too. */
export const DATE_BITS: u64 = 0x3_ffff_ffff;

const MAGIC: u32 = 0x4347_5048;
const OIDF: u32 = 0x4f49_4446;
const OIDL: u32 = 0x4f49_444c;
const CDAT: u32 = 0x4344_4154;
const EDGE: u32 = 0x4544_4745;
const BASE: u32 = 0x4241_5345;
const BIDX: u32 = 0x4249_4458;
const BDAT: u32 = 0x4244_4154;

const HEAD_BYTES: u64 = 8;
const TABLE_ENTRY: u64 = 12;
const FAN_BYTES: u64 = 1_024;
/** Two parents, generation and date, behind the name of the tree. */
const DATA_BYTES: usize = 16;
const FILTERS_HEAD: u64 = 12;
/** Bits that one path sets in its filter: git sets 7. */
const HASHES_MOST: u32 = 32;
/** Bytes of a filter: git makes none for a commit that changed more than some hundred paths. */
const FILTER_MOST: u64 = 1 << 20;
/** Bytes of a file: of more than some million commits. It is read through before anything of it is used. */
const FILE_MOST: u64 = 1 << 30;

/** Where a chunk lies. One that is not there has the offset 0. */
// @ts-ignore: decorator
@unmanaged
class Chunk {
  offset: u64;
  size: u64;
}

// @ts-ignore: decorator
@unmanaged
export class Layer {
  below: Layer | null;
  file: BlockFile;
  /** Commits in it, and in all layers below: the place of its first one. */
  count: u32;
  start: u32;
  fan: u64;
  names: u64;
  data: u64;
  edges: u64;
  edgeCount: u32;
  bases: u64;
  /** Of filters: their ends, the first of them, bytes of all, and bits that a path sets; 0: there are none. */
  filterEnds: u64;
  filters: u64;
  filterBytes: u64;
  hashes: u32;
  /** Where the chunks end and the hash begins; how much of it was hashed. */
  end: u64;
  hashed: u64;

  /** The hash that the file ends with, once all of it was hashed. */
  hash(): usize {
    return changetype<usize>(this) + offsetof<Layer>();
  }
}
/** What a layer takes of memory, a file's record behind it. */
const FILE_AT: usize = (offsetof<Layer>() + OID_MAX + 7) & ~7;
export const LAYER_BYTES: usize = FILE_AT + offsetof<BlockFile>();

const oidf = changetype<Chunk>(memory.data(offsetof<Chunk>(), 8));
const oidl = changetype<Chunk>(memory.data(offsetof<Chunk>(), 8));
const cdat = changetype<Chunk>(memory.data(offsetof<Chunk>(), 8));
const edge = changetype<Chunk>(memory.data(offsetof<Chunk>(), 8));
const base = changetype<Chunk>(memory.data(offsetof<Chunk>(), 8));
const bidx = changetype<Chunk>(memory.data(offsetof<Chunk>(), 8));
const bdat = changetype<Chunk>(memory.data(offsetof<Chunk>(), 8));

/** A layer of an open file, at a place that has LAYER_BYTES: nothing of it is read yet. */
export function makeLayer(place: usize, handle: i32, below: Layer | null): Layer {
  const layer = changetype<Layer>(place);
  layer.below = below;
  layer.file = addHeld(place + FILE_AT, handle);
  layer.start = below === null ? 0 : below.start + below.count;
  layer.hashed = 0;
  return layer;
}

/**
 * Judges the shape of a file that has `depth` layers below it. UNSUPPORTED, CORRUPT: it is of another kind, of another
 * repository, or none. Nothing of what it says of commits is looked at. O(1).
 */
export function readHeads(layer: Layer, depth: u32): i32 {
  const fault = peek(layer.file, 0, <usize>HEAD_BYTES);
  if (fault !== Fault.NONE) return fault;
  if (bswap<u32>(load<u32>(bytes)) !== MAGIC || load<u8>(bytes, 4) !== 1) return Fault.UNSUPPORTED;
  if (load<u8>(bytes, 5) !== (oidBytes === 20 ? 1 : 2)) return Fault.UNSUPPORTED;
  if (<u32>load<u8>(bytes, 7) !== depth) return Fault.CORRUPT;
  const table = readTable(layer, load<u8>(bytes, 6));
  return table !== Fault.NONE ? table : readChunks(layer, depth);
}

/** The chunks' places: each begins where the one before it ends. */
function readTable(layer: Layer, chunks: u32): i32 {
  oidf.offset = oidl.offset = cdat.offset = edge.offset = base.offset = bidx.offset = bdat.offset = 0;
  let least = HEAD_BYTES + TABLE_ENTRY * (<u64>chunks + 1);
  for (let i: u32 = 0; i < chunks; i++) {
    const fault = peek(layer.file, HEAD_BYTES + TABLE_ENTRY * <u64>i, <usize>(2 * TABLE_ENTRY));
    if (fault !== Fault.NONE) return fault;
    const id = bswap<u32>(load<u32>(bytes));
    const offset = bswap<u64>(load<u64>(bytes, 4));
    const next = bswap<u64>(load<u64>(bytes, 16));
    if (id === 0 || offset < least || next < offset || next > FILE_MOST) return Fault.CORRUPT;
    const chunk = chunkOf(id);
    if (chunk !== null) {
      if (chunk.offset !== 0) return Fault.CORRUPT;
      chunk.offset = offset;
      chunk.size = next - offset;
    }
    least = next;
  }
  const fault = word(layer.file, HEAD_BYTES + TABLE_ENTRY * <u64>chunks);
  if (fault !== Fault.NONE) return fault;
  layer.end = least;
  return said === 0 ? Fault.NONE : Fault.CORRUPT;
}

function chunkOf(id: u32): Chunk | null {
  switch (id) {
    case OIDF:
      return oidf;
    case OIDL:
      return oidl;
    case CDAT:
      return cdat;
    case EDGE:
      return edge;
    case BASE:
      return base;
    case BIDX:
      return bidx;
    case BDAT:
      return bdat;
    default:
      return null;
  }
}

/** The chunks' sizes follow from how many commits there are; the fan-out never falls. */
function readChunks(layer: Layer, depth: u32): i32 {
  if (oidf.offset === 0 || oidl.offset === 0 || cdat.offset === 0 || oidf.size !== FAN_BYTES) return Fault.CORRUPT;
  let count: u32 = 0;
  for (let i: u64 = 0; i < FAN_BYTES; i += 4) {
    const fault = word(layer.file, oidf.offset + i);
    if (fault !== Fault.NONE) return fault;
    if (said < count) return Fault.CORRUPT;
    count = said;
  }
  if (<u64>count + layer.start >= <u64>NO_PARENT) return Fault.CORRUPT;
  if (oidl.size !== <u64>count * oidBytes || cdat.size !== <u64>count * (oidBytes + DATA_BYTES)) return Fault.CORRUPT;
  if (edge.offset === 0) edge.size = 0;
  if (base.offset === 0) base.size = 0;
  if (base.size !== <u64>depth * oidBytes || edge.size % 4 !== 0) return Fault.CORRUPT;
  layer.count = count;
  layer.fan = oidf.offset;
  layer.names = oidl.offset;
  layer.data = cdat.offset;
  layer.edges = edge.offset;
  layer.edgeCount = <u32>(edge.size >> 2);
  layer.bases = base.offset;
  return readFilterHead(layer);
}

/** Filters of a kind that is not known here, or that do not fit, are as if they were not there. */
function readFilterHead(layer: Layer): i32 {
  layer.hashes = 0;
  if (bidx.offset === 0 || bdat.offset === 0 || bidx.size !== 4 * <u64>layer.count || bdat.size < FILTERS_HEAD) {
    return Fault.NONE;
  }
  const fault = peek(layer.file, bdat.offset, <usize>FILTERS_HEAD);
  if (fault !== Fault.NONE) return fault;
  const version = bswap<u32>(load<u32>(bytes));
  const hashes = bswap<u32>(load<u32>(bytes, 4));
  if ((version === 1 || version === 2) && hashes <= HASHES_MOST) layer.hashes = hashes;
  layer.filterEnds = bidx.offset;
  layer.filters = bdat.offset + FILTERS_HEAD;
  layer.filterBytes = bdat.size - FILTERS_HEAD;
  return Fault.NONE;
}

// ---- its hash ----

/** Whether all of the file was hashed, and is what it was. */
export function isHashed(layer: Layer): bool {
  return layer.hashed === layer.end;
}

/** Hashes up to `most` bytes more; with the last of them, whether the file ends there and with that hash. */
export function hashOn(layer: Layer, most: u64): i32 {
  if (layer.hashed === 0) beginDigest(oidBytes);
  const stop = min(layer.end, layer.hashed + most);
  while (layer.hashed < stop) {
    const fault = seek(layer.file, layer.hashed);
    if (fault !== Fault.NONE) return fault;
    const part = <usize>min<u64>(stop - layer.hashed, blockEnd - blockAt);
    digest(blockAt, blockAt + part);
    layer.hashed += part;
  }
  return layer.hashed === layer.end ? compareHash(layer) : Fault.NONE;
}

function compareHash(layer: Layer): i32 {
  endDigest(layer.hash());
  const fault = peek(layer.file, layer.end, oidBytes);
  if (fault !== Fault.NONE) return fault;
  if (!isSameOid(bytes, layer.hash())) return Fault.CORRUPT;
  // Whose last byte is not the file's last is not what git wrote.
  const behind = seek(layer.file, layer.end + oidBytes);
  return behind === Fault.NONE ? Fault.CORRUPT : behind === Fault.CORRUPT ? Fault.NONE : behind;
}

/** Whether its list of the layers below names those that are. */
export function standsOn(layer: Layer, depth: u32): i32 {
  let below = layer.below;
  for (let i = depth; i > 0; i--) {
    if (below === null) return Fault.CORRUPT;
    const fault = peek(layer.file, layer.bases + <u64>(i - 1) * oidBytes, oidBytes);
    if (fault !== Fault.NONE) return fault;
    if (!isSameOid(bytes, below.hash())) return Fault.CORRUPT;
    below = below.below;
  }
  return Fault.NONE;
}

// ---- a commit ----

/** What `readData` read: the tree's name, the parents as they stand there, the date. */
export const dataTree: usize = memory.data(32, 8);
export let dataFirst: u32 = 0;
export let dataSecond: u32 = 0;
export let dataDate: u64 = 0;

/** Reads what is said of the commit at a place, which is in this layer. */
export function readData(layer: Layer, place: u32): i32 {
  const size = oidBytes + DATA_BYTES;
  const fault = peek(layer.file, layer.data + <u64>(place - layer.start) * size, size);
  if (fault !== Fault.NONE) return fault;
  copyOid(dataTree, bytes);
  dataFirst = bswap<u32>(load<u32>(bytes + oidBytes));
  dataSecond = bswap<u32>(load<u32>(bytes + oidBytes, 4));
  dataDate = bswap<u64>(load<u64>(bytes + oidBytes, 8)) & DATE_BITS;
  return Fault.NONE;
}

/** The name of the commit at a place: lies in `bytes` of blocks.ts. */
export function peekName(layer: Layer, place: u32): i32 {
  return peek(layer.file, layer.names + <u64>(place - layer.start) * oidBytes, oidBytes);
}

/** Reads a parent of EDGE to `said` of sorted.ts. CORRUPT: the list has no such entry. */
export function readEdge(layer: Layer, index: u32): i32 {
  return index < layer.edgeCount ? word(layer.file, layer.edges + 4 * <u64>index) : Fault.CORRUPT;
}

/** Where the last `findIn` found the commit; `isFound` says whether it did. */
export let foundPlace: u32 = 0;
export let isFound: bool = false;

/** Looks a commit up in one layer. */
export function findIn(layer: Layer, oid: usize): i32 {
  const fault = findSorted(layer.file, layer.fan, layer.names, layer.count, oid);
  isFound = isListed;
  foundPlace = layer.start + rank;
  return fault;
}

/** Where the filter lies in the file that `readBounds` looked for; nowhere if both are the same. */
export let boundFrom: u64 = 0;
export let boundTo: u64 = 0;

/** Looks where the filter of the commit at a place is. One that cannot be where it is said to be is none. */
export function readBounds(layer: Layer, place: u32): i32 {
  boundFrom = boundTo = 0;
  if (layer.hashes === 0) return Fault.NONE;
  const at = layer.filterEnds + 4 * <u64>(place - layer.start);
  let fault = place === layer.start ? Fault.NONE : word(layer.file, at - 4);
  if (fault !== Fault.NONE) return fault;
  const from: u64 = place === layer.start ? 0 : said;
  fault = word(layer.file, at);
  const to: u64 = said;
  if (fault !== Fault.NONE || to < from || to > layer.filterBytes || to - from > FILTER_MOST) return fault;
  boundFrom = layer.filters + from;
  boundTo = layer.filters + to;
  return Fault.NONE;
}
