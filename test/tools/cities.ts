/** What the tests of `search` share: a city that ends with its test, and an answer at one glance. */

import { afterEach } from 'vitest';
import type { SearchValue } from '../../dist/tools/search.js';
import { city, type Setting, type TestCity } from '../support/cities.js';
import type { Things } from '../tree/worlds.js';

const begun: TestCity[] = [];
afterEach(() => {
  for (const place of begun.splice(0)) place.end();
});

/** Ends with the test. */
export function kept(place: TestCity): TestCity {
  begun.push(place);
  return place;
}

/** A city in this setting, ended after the test. */
export const begin = (setting: Setting, things: Things): TestCity => kept(city(setting, things));

/** `path:line:text` of each hit. */
export const hitsOf = ({ matches }: SearchValue): string[] =>
  matches.map(({ path, line, text }) => `${path}:${line}:${text}`);
export const pathsOf = ({ matches }: SearchValue): string[] => matches.map(({ path }) => path);

/** The coverage without what is zero or follows from the rest. */
export function countsOf({ coverage }: SearchValue): Record<string, number> {
  const { entries: _, unread_by_cause, ...counts } = coverage;
  return Object.fromEntries([...Object.entries(counts), ...Object.entries(unread_by_cause)].filter(([, n]) => n !== 0));
}

export const utf8Length = (text: string): number => new TextEncoder().encode(text).length;
