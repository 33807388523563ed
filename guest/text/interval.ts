/**
 * Cuts an interval of lines out of a file that passes in chunks. Stands between walk/reading.ts, which feeds it, and
 * the slice that goes back. Raw loads, each inside the chunk or the collected text.
 *
 *   SEEK   pass over `offset` lines          LAND   the first byte must begin a character
 *   SKIP   pass over `byte` bytes of one     TAKE   lines, while they fit
 *                                            CUT    the first line did not fit: measure what is left of it
 *                                            LAST   the limit is reached: does anything follow?
 *                                            OVER   known
 *
 * A line is taken when all of it fits, its LF counted; the first one up to `lineCap`, whatever `textCap` says: an empty
 * answer would make the caller ask for the same line for ever. Holds at most max(lineCap, textCap) bytes, doubled while
 * they grow.
 */

import { walkArena } from '../abi/arena';
import { findLineEnd, skipLines } from './lines';
import { borderBefore, isBorder } from './utf8';

namespace Stage {
  export const SEEK: u8 = 0;
  export const SKIP: u8 = 1;
  export const LAND: u8 = 2;
  export const TAKE: u8 = 3;
  export const CUT: u8 = 4;
  export const LAST: u8 = 5;
  export const OVER: u8 = 6;
}

/** What is wrong with `byte`. */
export namespace Fault {
  export const NONE: u8 = 0;
  export const PAST_LINE: u8 = 1;
  export const INSIDE_CHARACTER: u8 = 2;
}

/** The collected text's first room; it doubles. */
const ROOM_BYTES: usize = 16 << 10;

// @ts-ignore: decorator
@unmanaged
export class Interval {
  /** Lines still to pass, and then bytes. */
  lines: u64;
  bytes: u64;
  /** The caps. */
  limit: u32;
  textCap: u32;
  lineCap: u32;
  /** The text: collected so far, and of that what is delivered. */
  text: usize;
  room: usize;
  size: usize;
  kept: usize;
  taken: u32;
  /** What is left of a first line that was cut. */
  cutBytes: u64;
  stage: u8;
  isCut: bool;
  more: bool;
  fault: u8;

  begin(offset: u64, byte: u64, limit: u32, textCap: u32, lineCap: u32): void {
    this.lines = offset;
    this.bytes = byte;
    this.limit = limit;
    this.textCap = textCap;
    this.lineCap = lineCap;
    this.text = this.room = this.size = this.kept = 0;
    this.taken = 0;
    this.cutBytes = 0;
    this.stage = offset > 0 ? Stage.SEEK : this.stageInLine();
    this.isCut = this.more = false;
    this.fault = Fault.NONE;
  }

  /** Whether more of the file can change anything. */
  isOver(): bool {
    return this.stage === Stage.OVER;
  }

  /** The next chunk, which holds `lineEnds` LF. O(size) until it is over, then O(1). */
  feed(from: usize, to: usize, lineEnds: u64): void {
    let p = from;
    if (this.stage === Stage.SEEK) p = this.seek(p, to, lineEnds);
    if (this.stage === Stage.SKIP) p = this.skip(p, to);
    if (this.stage === Stage.LAND && p < to) this.land(p);
    while (this.stage === Stage.TAKE && p < to) p = this.take(p, to);
    if (this.stage === Stage.CUT) this.measure(p, to);
    else if (this.stage === Stage.LAST && p < to) this.endWithMore();
  }

  /** The file is at its end. */
  finish(): void {
    const isPast = this.stage <= Stage.LAND && this.bytesWereAsked();
    if (isPast) this.fault = Fault.PAST_LINE;
    if (this.stage === Stage.TAKE && this.size > this.kept) this.keepLine(); // the last line, without LF
    this.stage = Stage.OVER;
  }

  private stageInLine(): u8 {
    return this.bytes > 0 ? Stage.SKIP : Stage.TAKE;
  }

  private bytesWereAsked(): bool {
    return this.bytes > 0 || this.stage === Stage.LAND;
  }

  private seek(from: usize, to: usize, lineEnds: u64): usize {
    if (lineEnds < this.lines) {
      this.lines -= lineEnds;
      return to;
    }
    const p = skipLines(this.lines, from, to);
    this.lines = 0;
    this.stage = this.stageInLine();
    return p;
  }

  /** An LF among the bytes to pass over: the line is no longer than they are. */
  private skip(from: usize, to: usize): usize {
    const end = <u64>(to - from) < this.bytes ? to : from + <usize>this.bytes;
    if (findLineEnd(from, end) !== 0) {
      this.fault = Fault.PAST_LINE;
      this.stage = Stage.OVER;
      return end;
    }
    this.bytes -= <u64>(end - from);
    if (this.bytes === 0) this.stage = Stage.LAND;
    return end;
  }

  private land(p: usize): void {
    if (isBorder(load<u8>(p))) {
      this.stage = Stage.TAKE;
      return;
    }
    this.fault = Fault.INSIDE_CHARACTER;
    this.stage = Stage.OVER;
  }

  /** A line of [p, to), or the part of one that is there. */
  private take(p: usize, to: usize): usize {
    if (this.limit === 0) {
      this.endWithMore();
      return p;
    }
    const lineEnd = findLineEnd(p, to);
    const end = lineEnd === 0 ? to : lineEnd + 1;
    const cap: usize = this.taken === 0 ? this.lineCap : this.textCap;
    const fits = cap > this.size ? cap - this.size : 0;
    if (end - p > fits) {
      if (this.taken > 0) this.endWithMore();
      else this.cut(p, fits);
      return p + fits;
    }
    this.append(p, end - p);
    if (lineEnd !== 0) this.keepLine();
    return end;
  }

  private keepLine(): void {
    this.kept = this.size;
    this.taken++;
    if (this.taken === this.limit) this.stage = Stage.LAST;
  }

  private endWithMore(): void {
    this.more = true;
    this.stage = Stage.OVER;
  }

  /** The first line is longer than its cap: `fits` more bytes from `p` reach it, and at least one follows. */
  private cut(p: usize, fits: usize): void {
    this.append(p, fits);
    const end = this.text + this.size;
    const isWhole = this.size === 0 || isBorder(load<u8>(p + fits));
    this.kept = isWhole ? this.size : borderBefore(this.text, end - 1, end) - this.text;
    this.cutBytes = <u64>(this.size - this.kept);
    this.isCut = this.more = true;
    this.stage = Stage.CUT;
  }

  private measure(p: usize, to: usize): void {
    const lineEnd = findLineEnd(p, to);
    this.cutBytes += <u64>((lineEnd === 0 ? to : lineEnd + 1) - p);
    if (lineEnd !== 0) this.stage = Stage.OVER;
  }

  private append(from: usize, size: usize): void {
    if (this.room - this.size < size) this.grow(this.size + size);
    memory.copy(this.text + this.size, from, size);
    this.size += size;
  }

  private grow(needed: usize): void {
    const most: usize = max(this.lineCap, this.textCap);
    this.room = min(max(needed, max(this.room << 1, ROOM_BYTES)), most);
    const roomier = walkArena.alloc(1, this.room);
    memory.copy(roomier, this.text, this.size);
    this.text = roomier;
  }
}
