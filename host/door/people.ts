/**
 * An answer as a person reads it: the door's half after the call. The tool's values come in, two texts go
 * out: `out` is what was asked for, `err` what the reader must know about it (what was not looked at, what
 * was cut, how to go on). Line numbers are 1-based here, as in every editor; the tools count from 0.
 * Pure; writes nothing itself.
 */

import type { AxError } from '../error.js';
import { line as oneLine } from '../error.js';
import type { ReadValue } from '../tools/read.js';
import type { SearchValue } from '../tools/search.js';
import { highlighted, type Palette, visible } from './terminal.js';

/** How one stream is written to: whether a person looks at it, and in which colours. */
export interface Look {
  readonly isTerminal: boolean;
  readonly colours: Palette;
}

/** What goes where; each is empty or ends with a newline, but for file text on a pipe, which goes as it is. */
export interface Shown {
  readonly out: string;
  readonly err: string;
}

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
const lines = (all: readonly string[]): string => all.map((one) => `${one}\n`).join('');

/**
 * Hits as `path:number:line`, context as `path-number-line`, blocks apart by `--`: what rg prints, so that
 * what reads one reads the other. On a pipe the text goes as it is; names never do.
 *
 * @param asked - the needle, and the context lines as the tool took them (clamped)
 */
export function showSearch(
  value: SearchValue,
  asked: { readonly text: string; readonly contextLines: number },
  out: Look,
  err: Look,
): Shown {
  const blocks = value.matches.map((match) => lines(hitBlock(match, asked, out)));
  return { out: blocks.join(asked.contextLines > 0 ? '--\n' : ''), err: lines(searchSummary(value, err.colours)) };
}

function hitBlock(
  match: SearchValue['matches'][number],
  asked: { readonly text: string; readonly contextLines: number },
  { isTerminal, colours }: Look,
): string[] {
  const path = colours.path(visible(match.path, 'name'));
  // The block starts as many lines above the hit as were asked for, or at the file's first line.
  const before = Math.min(asked.contextLines, match.line);
  return match.text.split('\n').map((text, index) => {
    const isHit = index === before;
    const mark = isHit ? ':' : '-';
    const number = colours.line(String(match.line - before + index + 1));
    const words = isHit ? highlighted(text, asked.text, colours) : visible(text, 'text');
    return `${path}${mark}${number}${mark}${isTerminal ? words : text}`;
  });
}

/** What a search owes its reader besides the hits. Never empty: "nothing" is also an answer. */
function searchSummary(value: SearchValue, colours: Palette): string[] {
  const { coverage, unread, unreadable } = value;
  const files = new Set(value.matches.map((match) => match.path)).size;
  const hits = value.count === 0 ? 'no hits' : `${counted(value.count, 'hit')} in ${counted(files, 'file')}`;
  const said = [`${hits}; ${counted(coverage.looked, 'file')} looked at`];
  if (coverage.not_text > 0) {
    const them = counted(coverage.not_text, 'file holds', 'files hold');
    said.push(`${them} the text but not as UTF-8, so no lines are shown`);
  }
  if (unreadable > 0) {
    said.push(`not looked at: ${unreadable}`);
    said.push(...unread.map(({ path, why }) => `  ${colours.path(visible(path, 'name'))}: ${visible(why, 'name')}`));
    if (unreadable > unread.length) said.push(`  … and ${unreadable - unread.length} more`);
  }
  if (value.truncated) said.push(`${colours.refusal('cut')}: ${visible(whyCut(value.stopped), 'name')}`);
  return said;
}

/** Without the word that the line has said already. */
const whyCut = (stopped = 'more was left'): string => stopped.replace(/^stopped: /, '');

/**
 * The text of an interval. On a terminal with line numbers; on a pipe exactly its characters, so that a
 * file that fits one answer comes out byte for byte. The way on is told on the other stream.
 *
 * @param asked - where the interval starts, as the tool was asked: 0-based
 */
export function showRead(value: ReadValue, asked: { readonly offsetLines: number }, out: Look, err: Look): Shown {
  const said = readSummary(value, asked.offsetLines).map((one) => err.colours.aside(one));
  return { out: out.isTerminal ? numbered(value.text, asked.offsetLines, out.colours) : value.text, err: lines(said) };
}

function numbered(text: string, offsetLines: number, colours: Palette): string {
  if (text === '') return '';
  const all = text.split('\n');
  if (all.at(-1) === '') all.pop();
  const width = String(offsetLines + all.length).length;
  return lines(
    all.map((one, index) => {
      const number = String(offsetLines + index + 1).padStart(width);
      // The CR of a CRLF is half a line end; any other one would let a line overwrite itself.
      return `${colours.line(number)}  ${visible(one.replace(/\r$/, ''), 'text')}`;
    }),
  );
}

function readSummary(value: ReadValue, offsetLines: number): string[] {
  const { next_offset: nextOffset, next_byte: nextByte, total_lines: totalLines } = value;
  const said: string[] = [];
  if (nextByte !== undefined && nextOffset !== undefined) {
    said.push(
      `${counted(value.cut_bytes ?? 0, 'byte')} of line ${nextOffset + 1} are left: go on with --offset ${nextOffset} --byte ${nextByte}`,
    );
  } else if (nextOffset !== undefined) {
    const of = totalLines === undefined ? '' : ` of ${totalLines}`;
    said.push(`lines ${offsetLines + 1} to ${nextOffset}${of}: go on with --offset ${nextOffset}`);
  } else if (value.text === '' && totalLines !== undefined) {
    said.push(`nothing there: the file has ${counted(totalLines, 'line')}`);
  }
  if (value.note !== undefined) said.push(visible(value.note, 'name'));
  return said;
}

/** A refusal: its one line, what to do next, and what could have been asked instead. Always for eyes. */
export function showError(error: AxError, colours: Palette): string {
  const said = [colours.refusal(visible(oneLine(error), 'name')), `→ ${visible(error.recovery, 'name')}`];
  if (error.nearby.length > 0) said.push('nearby:', ...error.nearby.map((near) => `  ${visible(near, 'name')}`));
  return lines(said);
}
