/** The tools there are. Adding one: its file, and its line here. */

import { read } from './read.js';
import { search } from './search.js';
import type { AnyTool } from './tool.js';

const ALL: readonly AnyTool[] = [search, read];

/** By name. A `Map`, since a tool may be asked for by any name, `__proto__` too. */
export const TOOLS: ReadonlyMap<string, AnyTool> = new Map(ALL.map((tool) => [tool.name, tool]));
