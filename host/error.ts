/**
 * `AxError`, the one shape of every refusal and failure, and the only ways to build one.
 * Expected outcomes are values (`Outcome`); bugs are thrown. Imports only the limits.
 *
 * A path the caller wrote may be echoed. No other host path, no stack, no place a link points to and no
 * text of another file ever goes into one of these: the constructors take the asked words and a fact
 * written in this project, never an operating system's message.
 */

import { ECHO_CAP_BYTES, RETRY_AFTER_MS } from './limits.js';

/** The closed set of codes. */
export const AX_CODES = [
  'E_INVALID_ARGS',
  'E_GATE_DENIED',
  'E_OUTSIDE_WRITE_DOMAIN',
  'E_VERSION_CONFLICT',
  'E_PATH_NOT_FOUND',
  'E_CAS_CORRUPT',
  'E_CONFIG_INVALID',
  'E_STORAGE_FATAL',
  'E_LIMIT',
  'E_CANCELLED',
  'E_TOOL_UNKNOWN',
  'E_GUEST_TRAP',
] as const;
/** One of them. */
export type AxCode = (typeof AX_CODES)[number];

/** Whether asking again can help, without anything being changed by the caller. */
export type Retry = 'yes' | 'no' | 'unknown';

/** One flat object; its JSON has the fields in this order. */
export interface AxError {
  readonly code: AxCode;
  /** The tool that was asked. */
  readonly action: string;
  /** What was asked, as the caller wrote it (at most ECHO_CAP_BYTES of it), then `: ` and the fact. */
  readonly subject: string;
  /** Values the caller can use as they are; may be empty. */
  readonly nearby: readonly string[];
  /** What to do next; never empty. */
  readonly recovery: string;
  readonly retry: Retry;
  /** Milliseconds; only with `retry: "yes"`. */
  readonly retry_after_ms?: number;
}

/** What every call gives: a value, or an error that says how to go on. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: AxError };

/** An outcome that is a value. */
export const ok = <T>(value: T): Outcome<T> => ({ ok: true, value });
/** An outcome that is a refusal; it fits where any value was expected. */
export const refused = (error: AxError): { readonly ok: false; readonly error: AxError } => ({ ok: false, error });

/** What was asked of which tool: the first half of every error. */
export interface Asked {
  readonly action: string;
  readonly asked: string;
}

/** The marker that stands where bytes were cut, here and in every answer. */
export const truncationMarker = (cutBytes: number): string => `[truncated: ${cutBytes} bytes]`;

/**
 * `text` whole if it is at most `capBytes` of UTF-8, else its head, cut on a character's border, and the marker.
 * A lone surrogate (which has no UTF-8) is shown as U+FFFD. Linear in `capBytes` and the length of `text`.
 */
export function echo(text: string, capBytes: number = ECHO_CAP_BYTES): string {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // a leading U+FEFF is the caller's own
  if (bytes.length <= capBytes) return decoder.decode(bytes);
  let end = capBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return decoder.decode(bytes.subarray(0, end)) + truncationMarker(bytes.length - end);
}

function build(
  code: AxCode,
  at: Asked,
  fact: string,
  recovery: string,
  rest: Partial<Pick<AxError, 'nearby' | 'retry' | 'retry_after_ms'>> = {},
): AxError {
  if (recovery === '') throw new Error('an error without a way on');
  const { nearby = [], retry = 'no', retry_after_ms } = rest;
  const subject = at.asked === '' ? fact : `${echo(at.asked)}: ${fact}`;
  const error = { code, action: at.action, subject, nearby, recovery, retry };
  return retry_after_ms === undefined ? error : { ...error, retry_after_ms };
}

/** The caller's mistake. `nearby` holds values that would have worked. */
export const invalidArgs = (at: Asked, fact: string, recovery: string, nearby: readonly string[] = []): AxError =>
  build('E_INVALID_ARGS', at, fact, recovery, { nearby });

/** The bound, the reserved rule or containment says no. */
export const gateDenied = (at: Asked, fact: string, recovery: string): AxError =>
  build('E_GATE_DENIED', at, fact, recovery);

/** The one denial that may be asked again: the place moved while it was looked at. */
export const changedAfterJudged = (at: Asked): AxError =>
  build(
    'E_GATE_DENIED',
    at,
    'it changed after it was judged',
    'ask again once nothing moves the directories on its way',
    {
      retry: 'yes',
      retry_after_ms: RETRY_AFTER_MS,
    },
  );

/** What names stored bytes is known, and the bytes are gone. */
export const pathNotFound = (at: Asked, fact: string, recovery: string): AxError =>
  build('E_PATH_NOT_FOUND', at, fact, recovery);

/** The bytes of a block are not those of its name; nothing of them was handed out. */
export const casCorrupt = (at: Asked): AxError =>
  build(
    'E_CAS_CORRUPT',
    at,
    'its bytes do not hash to its name',
    'a person has to remove that block and store it again; nothing of it was handed out',
  );

/** Configuration that a person has to mend. */
export const configInvalid = (at: Asked, fact: string, recovery: string): AxError =>
  build('E_CONFIG_INVALID', at, fact, recovery);

/** The disk did not answer. `retry` is "unknown" for I/O errors, "no" for what a person must repair. */
export const storageFatal = (at: Asked, fact: string, recovery: string, retry: Retry = 'no'): AxError =>
  build('E_STORAGE_FATAL', at, fact, recovery, { retry });

/** A budget or a queue is full; `fact` names which, its value and how far the call got. */
export const limitReached = (at: Asked, fact: string, recovery: string, retry: Retry = 'no'): AxError =>
  build('E_LIMIT', at, fact, recovery, retry === 'yes' ? { retry, retry_after_ms: RETRY_AFTER_MS } : { retry });

/** The caller's own signal fired. */
export const cancelled = (at: Asked): AxError =>
  build('E_CANCELLED', at, 'the caller cancelled it', 'ask again if the answer is still wanted');

/** There is no such tool; `tools` are those there are. */
export const toolUnknown = (name: string, tools: readonly string[]): AxError =>
  build(
    'E_TOOL_UNKNOWN',
    { action: 'call', asked: name },
    'there is no tool of this name',
    'call one of the tools in nearby',
    { nearby: tools },
  );

/** There is such a tool, and the reader of this city has none. */
export const toolNotOffered = (name: string, tools: readonly string[]): AxError =>
  build(
    'E_TOOL_UNKNOWN',
    { action: 'call', asked: name },
    'it is not offered to this reader',
    'call one of the tools in nearby; a person can name the branches whose history this reader is given (--branches)',
    { nearby: tools },
  );

/** The sandboxed component trapped or broke its contract. Nothing else of the runner is affected. */
export const guestTrap = (at: Asked, fact: string): AxError =>
  build(
    'E_GUEST_TRAP',
    at,
    fact,
    'nothing was read outside the bound and nothing else is affected; report it with the component’s hash',
  );

/** A refusal that met another question on the way, told as the answer to `at`. */
export const toldAs = (at: Asked, error: AxError): AxError => {
  const subject = at.asked === '' ? error.subject : `${echo(at.asked)}: ${error.subject}`;
  return { ...error, action: at.action, subject };
};

/** The one-line rendering, for people and logs. */
export const line = (error: AxError): string => `${error.code}: cannot ${error.action} ${error.subject}`;
