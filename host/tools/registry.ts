/** The tools there are. Adding one: its file, and its line here. */

import { getBlock, putBlock } from './blocks.js';
import { read } from './read.js';
import { search } from './search.js';
import { searchHistory } from './search-history.js';
import type { AnyErrand, AnyTool } from './tool.js';

const ALL: readonly AnyTool[] = [search, read, searchHistory];

/** By name. A `Map`, since a tool may be asked for by any name, `__proto__` too. */
export const TOOLS: ReadonlyMap<string, AnyTool> = new Map(ALL.map((tool) => [tool.name, tool]));

/** What the host's own doors ask for; a caller of tools cannot. */
export const ERRANDS: ReadonlyMap<string, AnyErrand> = new Map(
  [putBlock, getBlock].map((errand: AnyErrand) => [errand.name, errand]),
);
