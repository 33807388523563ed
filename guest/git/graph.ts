/**
 * The commit-graph, where there is one: trees, parents and dates of commits without inflating them. Stands between
 * commits.ts (the walk) and layer.ts (one file). `objects/info/commit-graph` is one layer; otherwise
 * `objects/info/commit-graphs/commit-graph-chain` names layers, the lowest first, each a file of its hash's name.
 *
 * It repeats what the commits say, so nothing depends on it: what is missing, damaged, of another kind or too large is
 * left out, and the commits themselves are read. Of a chain the layers below the first one that does not hold stay, as
 * git has it. It is checked before the walk begins, in pieces (`checkOn`), and given up for good at the first look that
 * fails later. Only a budget that is spent is a fault.
 */

import { walkArena } from '../abi/arena';
import { atEnd, close, openDirectory, openFile, readInto } from '../abi/lift';
import { bytes, closeFile, peek } from './blocks';
import { Fault, faultOf } from './fault';
import {
  boundFrom, boundTo, EDGE_BIT, findIn, foundPlace, hashOn, isFound, isHashed, Layer, LAYER_BYTES, makeLayer, NO_PARENT,
  peekName, readBounds, readData, readEdge, readHeads, standsOn,
} from './layer';
import { copyOid, fromHex, isSameOid, oidBytes } from './oid';
import { said } from './sorted';

/** Layers of a chain that are used: each is an open file. git merges them so that there are few. */
const LAYERS_MOST: usize = 32;
/** Parents in EDGE of one commit: a commit of more is read itself, and all behind it. */
const PARENTS_MOST: u32 = 4_096;
/** Bytes that are hashed at once. */
const PIECE_BYTES: u64 = 256 << 10;

/** No place: the commit is not in the graph. */
export const NOWHERE: u32 = 0xffff_ffff;

/** The highest layer that holds, and how many there are. */
let top: Layer | null = null;
let depth: u32 = 0;

/** Parents that were read of long lists, and bytes that were hashed: what a page is bounded by. */
export let edgesRead: u32 = 0;
export let bytesChecked: u64 = 0;

/** What is checked next. */
namespace Step {
  export const SINGLE: i32 = 0;
  export const CHAIN: i32 = 1;
  export const LAYER: i32 = 2;
  export const HASH: i32 = 3;
  export const OVER: i32 = 4;
}
let step: i32 = Step.OVER;
/** `objects/info`, and `commit-graphs` in it, while they are needed. */
let info: i32 = -1;
let graphs: i32 = -1;
/** The layer that is being checked. */
let candidate: Layer | null = null;
/** The chain's lines: hex and a newline each; which one is next, and how many there are. 0: there is one file alone. */
let chain: usize = 0;
let line: u32 = 0;
let lines: u32 = 0;

const INFO: usize = memory.data<u8>([0x69, 0x6e, 0x66, 0x6f]);
/** `commit-graph`, `commit-graphs`, `commit-graph-chain`: their beginning is one. */
const COMMIT_GRAPHS: usize = memory.data<u8>([99, 111, 109, 109, 105, 116, 45, 103, 114, 97, 112, 104, 115]);
const COMMIT_GRAPH_SIZE: usize = 12;
const CHAIN: usize = memory.data<u8>([
  99, 111, 109, 109, 105, 116, 45, 103, 114, 97, 112, 104, 45, 99, 104, 97, 105, 110,
]);
const CHAIN_SIZE: usize = 18;

/** Begins to look for a graph below the directory `objects`, which is not ours to close: `checkOn` while `isChecking`. */
export function beginGraph(objects: i32): i32 {
  forgetGraph();
  info = openDirectory(objects, INFO, 4);
  if (info < 0) return tolerate(faultOf(~info));
  step = Step.SINGLE;
  return Fault.NONE;
}

/** Forgets it, and closes what is not among the files of blocks.ts. */
export function forgetGraph(): void {
  closeDirectories();
  top = candidate = null;
  depth = 0;
  step = Step.OVER;
}

function closeDirectories(): void {
  if (graphs >= 0) close(graphs);
  if (info >= 0) close(info);
  info = graphs = -1;
}

/** Of what happened to the graph only that a budget is spent concerns anybody. */
function tolerate(fault: i32): i32 {
  return fault === Fault.BUDGET ? fault : Fault.NONE;
}

/** Whether there is more to check; until then nothing is read of it. */
export function isChecking(): bool {
  return step !== Step.OVER;
}

/** Checks one piece more. BUDGET: a budget of the call is spent. */
export function checkOn(): i32 {
  const fault = takeStep();
  if (fault !== Fault.NONE) refuse();
  return tolerate(fault);
}

function takeStep(): i32 {
  switch (step) {
    case Step.SINGLE:
      chain = 0;
      return openLayer(info, COMMIT_GRAPHS, COMMIT_GRAPH_SIZE);
    case Step.CHAIN:
      return openChain();
    case Step.LAYER:
      return nextLayer();
    default:
      return hashLayer();
  }
}

/** The file, or the chain from here on, does not hold. Where there is no single file, there may be a chain. */
function refuse(): void {
  const layer = candidate;
  if (layer !== null) closeFile(layer.file);
  candidate = null;
  if (step !== Step.CHAIN && chain === 0) step = Step.CHAIN;
  else finish();
}

function finish(): void {
  closeDirectories();
  step = Step.OVER;
}

function openLayer(dir: i32, name: usize, size: usize): i32 {
  const file = openFile(dir, name, size, false);
  if (file < 0) return faultOf(~file);
  const layer = makeLayer(walkArena.alloc(8, LAYER_BYTES), file, top);
  candidate = layer;
  step = Step.HASH;
  return readHeads(layer, depth);
}

function hashLayer(): i32 {
  const layer = changetype<Layer>(candidate);
  const before = layer.hashed;
  const fault = hashOn(layer, PIECE_BYTES);
  bytesChecked += layer.hashed - before;
  return fault === Fault.NONE && isHashed(layer) ? accept(layer) : fault;
}

function accept(layer: Layer): i32 {
  if (chain !== 0) {
    if (!isSameOid(layer.hash(), lineHash)) return Fault.CORRUPT;
    const fault = standsOn(layer, depth);
    if (fault !== Fault.NONE) return fault;
  }
  top = layer;
  depth++;
  candidate = null;
  if (chain === 0) finish();
  else step = Step.LAYER;
  return Fault.NONE;
}

// ---- a chain ----

/** Opens the chain and reads its lines; one that is not whole is none. */
function openChain(): i32 {
  graphs = openDirectory(info, COMMIT_GRAPHS, COMMIT_GRAPH_SIZE + 1);
  if (graphs < 0) return faultOf(~graphs);
  const file = openFile(graphs, CHAIN, CHAIN_SIZE, false);
  if (file < 0) return faultOf(~file);
  const most: usize = (2 * oidBytes + 1) * LAYERS_MOST;
  chain = walkArena.alloc(1, most);
  let size: usize = 0;
  let answer: i32 = 0;
  do {
    answer = readInto(file, chain + size, most - size, size);
    if (answer >= 0) size += answer;
  } while (answer >= 0 && !atEnd && size < most);
  close(file);
  if (answer < 0) return faultOf(~answer);
  line = 0;
  lines = <u32>(size / (2 * oidBytes + 1));
  step = Step.LAYER;
  return Fault.NONE;
}

/** The hash that the chain's line names. */
const lineHash: usize = memory.data(32, 8);
/** `graph-<hash>.graph` */
const layerName: usize = memory.data(6 + 64 + 6 + 4, 8);
/** `graph-` and `.graph`, first byte lowest. */
const LAYER_WORD: u64 = 0x2d68_7061_7267;
const LAYER_ENDING: u64 = 0x6870_6172_672e;

function nextLayer(): i32 {
  if (line === lines) {
    finish();
    return Fault.NONE;
  }
  const hex: usize = 2 * oidBytes;
  const at = chain + <usize>line * (hex + 1);
  line++;
  if (!fromHex(at, lineHash) || load<u8>(at + hex) !== 0x0a) return Fault.CORRUPT;
  store<u64>(layerName, LAYER_WORD);
  memory.copy(layerName + 6, at, hex);
  store<u64>(layerName + 6 + hex, LAYER_ENDING);
  return openLayer(graphs, layerName, 6 + hex + 6);
}

// ---- looking things up ----

/** Whether there is a graph that holds, so far. */
export function hasGraph(): bool {
  return top !== null;
}

/** The commits themselves are read from here on. */
function giveUp(fault: i32): i32 {
  top = null;
  place = NOWHERE;
  return tolerate(fault);
}

/** Where the last `findPlace` found the commit, or NOWHERE. */
export let place: u32 = NOWHERE;

/** Looks a commit up, the highest layer first. O(layers × log commits). */
export function findPlace(oid: usize): i32 {
  place = NOWHERE;
  let layer = top;
  while (layer !== null) {
    const fault = findIn(layer, oid);
    if (fault !== Fault.NONE) return giveUp(fault);
    if (isFound) {
      place = foundPlace;
      return Fault.NONE;
    }
    layer = layer.below;
  }
  return Fault.NONE;
}

/** The layer of a place; null if there is none such, which gives the graph up. */
function layerOf(where: u32): Layer | null {
  let layer = top;
  while (layer !== null && layer.start > where) layer = layer.below;
  return layer !== null && where - layer.start < layer.count ? layer : null;
}

/** The name of the commit that `readPlace` read. */
export const placeOid: usize = memory.data(32, 8);

/**
 * Reads name and data of the commit at a place: `placeOid`, and `dataTree`, `dataFirst`, `dataSecond`, `dataDate` of
 * layer.ts. Without `hasGraph` behind it, it was not to be had. O(layers).
 */
export function readPlace(where: u32): i32 {
  const layer = layerOf(where);
  if (layer === null) return giveUp(Fault.CORRUPT);
  let fault = peekName(layer, where);
  if (fault !== Fault.NONE) return giveUp(fault);
  copyOid(placeOid, bytes);
  fault = readData(layer, where);
  return fault === Fault.NONE ? fault : giveUp(fault);
}

/** Reads the name alone. */
export function readName(where: u32): i32 {
  const layer = layerOf(where);
  const fault = layer === null ? Fault.CORRUPT : peekName(layer, where);
  if (fault !== Fault.NONE) return giveUp(fault);
  copyOid(placeOid, bytes);
  return Fault.NONE;
}

// ---- the parents of one commit ----

/** Which of its parents is next. */
namespace Next {
  export const FIRST: i32 = 0;
  export const SECOND: i32 = 1;
  export const EDGE: i32 = 2;
  export const NONE: i32 = 3;
}
let next: i32 = Next.NONE;
let parentsOf: Layer | null = null;
let first: u32 = 0;
let second: u32 = 0;
let edge: u32 = 0;
let edgesLeft: u32 = 0;

/** Begins with the parents of the commit at a place, whose two words are these. */
export function beginParents(where: u32, firstWord: u32, secondWord: u32): void {
  parentsOf = layerOf(where);
  first = firstWord;
  second = secondWord;
  next = first === NO_PARENT ? Next.NONE : Next.FIRST;
}

/** The place of the parent that `nextParent` gave; NOWHERE behind the last one, and where the graph was given up. */
export let parentPlace: u32 = NOWHERE;

/** Goes on to the next parent. */
export function nextParent(): i32 {
  parentPlace = NOWHERE;
  if (top === null) return Fault.NONE;
  if (next === Next.FIRST) {
    next = second === NO_PARENT ? Next.NONE : second & EDGE_BIT ? Next.EDGE : Next.SECOND;
    edge = second & ~EDGE_BIT;
    edgesLeft = PARENTS_MOST;
    return giveParent(first);
  }
  if (next === Next.SECOND) {
    next = Next.NONE;
    return giveParent(second);
  }
  return next === Next.EDGE ? nextEdge() : Fault.NONE;
}

function nextEdge(): i32 {
  const layer = parentsOf;
  if (layer === null || edgesLeft-- === 0) return giveUp(Fault.CORRUPT);
  edgesRead++;
  const fault = readEdge(layer, edge++);
  if (fault !== Fault.NONE) return giveUp(fault);
  if (said & EDGE_BIT) next = Next.NONE;
  return giveParent(said & ~EDGE_BIT);
}

/** A parent is in the commit's own layer, or below it. */
function giveParent(where: u32): i32 {
  const layer = parentsOf;
  if (layer === null || where >= layer.start + layer.count) return giveUp(Fault.CORRUPT);
  parentPlace = where;
  return Fault.NONE;
}

// ---- filters of changed paths ----

/** The filter that `readFilter` read: how many bits, 0 if there is none, and how many of them a path sets. */
export let filterBits: u32 = 0;
export let filterHashes: u32 = 0;
let filterLayer: Layer | null = null;
let filterAt: u64 = 0;

/** Whether the bit that `filterBit` read is set. */
export let isBitSet: bool = false;

/** Reads where the filter of the commit at a place is. */
export function readFilter(where: u32): i32 {
  filterBits = 0;
  const layer = layerOf(where);
  if (layer === null) return Fault.NONE;
  const fault = readBounds(layer, where);
  if (fault !== Fault.NONE) return giveUp(fault);
  filterLayer = layer;
  filterAt = boundFrom;
  filterBits = <u32>(boundTo - boundFrom) << 3;
  filterHashes = layer.hashes;
  return Fault.NONE;
}

/** Reads a bit of it to `isBitSet`. Where the graph is given up, it is set and there is no filter. */
export function filterBit(index: u32): i32 {
  isBitSet = true;
  const layer = filterLayer;
  if (layer === null) return Fault.NONE;
  const fault = peek(layer.file, filterAt + (index >> 3), 1);
  if (fault !== Fault.NONE) {
    filterBits = 0;
    return giveUp(fault);
  }
  isBitSet = ((load<u8>(bytes) >> (<u8>index & 7)) & 1) !== 0;
  return Fault.NONE;
}
