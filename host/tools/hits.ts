/**
 * Hits on their way between threads: by file, in columns. An object for each hit, with its path, takes five times as
 * long to cross, which for thousands of hits is some ten milliseconds. Stands beside search.parts.ts.
 */

import type { Hit } from '../wasi/guest.js';

/** Hits of files in a row, each file's together. Plain data: it crosses between threads. */
export interface PackedHits {
  readonly paths: readonly string[];
  /** How many of the hits are in each file. */
  readonly counts: readonly number[];
  readonly lines: readonly number[];
  readonly texts: readonly string[];
}

/** The hits by file, in their order. O(hits). */
export function packHits(hits: readonly Hit[]): PackedHits {
  const paths: string[] = [];
  const counts: number[] = [];
  let count = 0;
  for (const [index, { path }] of hits.entries()) {
    count++;
    if (path === hits[index + 1]?.path) continue;
    paths.push(path);
    counts.push(count);
    count = 0;
  }
  return { paths, counts, lines: hits.map(({ line }) => line), texts: hits.map(({ text }) => text) };
}

/** What was packed. O(hits). */
export function unpackHits({ paths, counts, lines, texts }: PackedHits): readonly Hit[] {
  const hits: Hit[] = [];
  for (const [file, path] of paths.entries()) {
    const end = hits.length + (counts[file] ?? 0);
    for (let at = hits.length; at < end; at++) hits.push({ path, line: lines[at] ?? 0, text: texts[at] ?? '' });
  }
  return hits;
}
