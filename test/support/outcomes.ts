/** What a test expects of an outcome, said in one word; the other kind fails the test with what came instead. */

import type { AxError, Outcome } from '../../dist/error.js';

export function asValue<T>(outcome: Outcome<T> | undefined): T {
  if (outcome?.ok !== true) throw new Error(`expected a value, got ${JSON.stringify(outcome)}`);
  return outcome.value;
}

export function asError(outcome: Outcome<unknown> | undefined): AxError {
  if (outcome?.ok !== false) throw new Error(`expected an error, got ${JSON.stringify(outcome)?.slice(0, 400)}`);
  return outcome.error;
}
