/**
 * What a tool is: a name, words for models, a schema for its arguments from which types and JSON Schema are derived,
 * and the work, which runs inside a worker with every file-system call of both walls.
 */

import { z } from 'zod';
import { type AxError, echo, invalidArgs, type Outcome } from '../error.js';
import type { Call } from '../runner/call.js';
import type { Joined } from '../runner/shared-walk.js';

/** A tool: a file of its own in this directory, and one line of the registry. */
export interface Tool<Args, Value> {
  readonly name: string;
  /** One line for people. */
  readonly title: string;
  /** For models: what it answers, what it does not, how to go on. */
  readonly description: string;
  readonly args: z.ZodType<Args>;
  readonly value: z.ZodType<Value>;
  /** Whether the tool only reads. */
  readonly readOnly: true;
  /** Whether its calls need the catalog of the run. */
  readonly opensByName?: true;
  /** For a tool whose arguments exclude one another: its forms in one sentence, the way forward from any wrong one. */
  readonly forms?: string;
  /** The call's time, from when a worker takes it. */
  readonly timeMs: number;
  /** What a refusal quotes: the caller's own words of what was asked. Called with arguments of any shape. */
  asked(args: unknown): string;
  /**
   * Whether there is such a tool for this call's reader; left out: for everybody. Asked before the work, with the
   * policy's answers.
   */
  isOffered?(call: Call): Promise<Outcome<boolean>>;
  /** The work. Expected outcomes are values; what it throws is a bug or a fault of the guest. */
  run(call: Call, args: Args): Promise<Outcome<Value>>;
  /** Takes part in a call that another thread runs, if the tool can be shared: walks parts of its plan until none is left. */
  join?(call: Call, joined: Joined): Promise<void>;
}

/** A tool whose arguments are its own affair. */
// biome-ignore lint/suspicious/noExplicitAny: the registry holds tools of different arguments; each parses its own
export type AnyTool = Tool<any, unknown>;

/**
 * Work that a door of the host asks for by itself, in the same threads and under the same budgets. No tool: it has no
 * schema, no model is offered it, and it cannot be called by name.
 */
export interface Errand<Args, Value> {
  /** What a refusal says was asked: two words, which no tool's name is. */
  readonly name: string;
  readonly timeMs: number;
  /** What a refusal quotes. */
  asked(args: Args): string;
  /** What a receipt keeps of the arguments: never bytes. */
  told(args: Args): Readonly<Record<string, unknown>>;
  /** Bytes of the value. */
  sizeOf(value: Value): number;
  run(call: Call, args: Args): Promise<Outcome<Value>>;
}

/** An errand whose arguments are its own affair. */
// biome-ignore lint/suspicious/noExplicitAny: as for tools
export type AnyErrand = Errand<any, any>;

/** A string field of arguments that were not validated yet, or ''. */
export function wordOf(args: unknown, field: string): string {
  if (typeof args !== 'object' || args === null) return '';
  const word: unknown = Object.getOwnPropertyDescriptor(args, field)?.value;
  return typeof word === 'string' ? word : '';
}

/** The arguments, or `E_INVALID_ARGS` that names the first thing wrong with them. */
export function parseArgs<Args>(tool: Tool<Args, unknown>, raw: unknown): Outcome<Args> {
  const parsed = tool.args.safeParse(raw);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, error: badArgs(tool, raw, parsed.error) };
}

function badArgs(tool: AnyTool, raw: unknown, error: z.ZodError): AxError {
  const at = { action: tool.name, asked: tool.asked(raw) };
  const issue = error.issues[0];
  const field = issue?.path.join('.') ?? '';
  if (issue?.code === 'unrecognized_keys') {
    const known = Object.keys(jsonSchema(tool).properties ?? {});
    const names = echo(issue.keys.map((key) => JSON.stringify(key)).join(', '));
    return invalidArgs(at, `unknown argument ${names}`, tool.forms ?? `pass only ${known.join(', ')}`);
  }
  const message = issue?.message ?? 'is not valid';
  // What a tool says of its arguments as a whole is a sentence of its own.
  const ofAll = issue?.code === 'custom' ? message : 'the arguments are not an object of the tool’s form';
  return invalidArgs(at, field === '' ? ofAll : `${field} ${message}`, tool.forms ?? recoveryOf(tool, field));
}

/** The schema's own description of the field is the way forward. */
function recoveryOf(tool: AnyTool, field: string): string {
  const properties = jsonSchema(tool).properties ?? {};
  const property = Object.hasOwn(properties, field) ? properties[field] : undefined;
  const description = typeof property === 'object' ? property.description : undefined;
  if (description !== undefined) return `${field}: ${description}`;
  return `pass a JSON object with ${Object.keys(properties).join(', ')}`;
}

/** The JSON Schema of a tool's arguments, for models and protocols; derived, never written. */
export function jsonSchema(tool: AnyTool): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(tool.args, { io: 'input', unrepresentable: 'any' });
}

/**
 * A whole number of any size a JSON text can spell: zod's own `.int()` refuses what is beyond 2^53, and its `z.number()`
 * what JavaScript can only call Infinity (`1e400`). Tools clamp it.
 */
export function wholeNumber(least: number): z.ZodType<number> {
  const isWhole = (value: unknown): boolean => Number.isInteger(value) || value === Number.POSITIVE_INFINITY;
  return z
    .custom<number>((value) => isWhole(value) && Number(value) >= least, {
      message: `must be a whole number of ${least} or more`,
    })
    .meta({ type: 'integer', minimum: least });
}
