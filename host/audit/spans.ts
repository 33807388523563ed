/**
 * OpenTelemetry, where the embedder has it: one span a call, beside its receipt. Names and attributes follow the
 * GenAI conventions (`execute_tool`); none holds a path, a text that was asked, or a caller's word for a tool.
 * Spans are no gate: one that fails changes no answer.
 */

import type { Outcome } from '../error.js';
import type { Account } from '../runner/job.js';

/** What is used of `@opentelemetry/api`, so that the package need not be there. */
export interface OpenTelemetry {
  readonly trace: {
    getTracer(name: string): {
      startSpan(name: string, options: { readonly attributes: Record<string, string | number> }): OpenSpan;
    };
  };
}
interface OpenSpan {
  setAttribute(name: string, value: string | number): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(): void;
}

/** Ends a call's span with what came of it. Never throws. */
export type EndSpan = (outcome: Outcome<unknown>, account: Account | null) => void;

/** `SpanStatusCode.ERROR`. A call that was answered leaves its status unset, as the conventions want it. */
const STATUS_ERROR = 2;

/** `@opentelemetry/api` if it can be found from here, else undefined. */
export async function findOpenTelemetry(): Promise<OpenTelemetry | undefined> {
  // Not a literal: whoever lacks the package must be able to compile and bundle.
  const name: string = '@opentelemetry/api';
  try {
    return await import(name);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

/** Begins a call's span. `tool` is one of ours, or null for a name that is no tool's. */
export function beginSpan(api: OpenTelemetry | undefined, tool: string | null): EndSpan {
  if (api === undefined) return () => {};
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.type': 'function',
    ...(tool !== null && { 'gen_ai.tool.name': tool }),
  };
  const name = tool === null ? 'execute_tool' : `execute_tool ${tool}`;
  let span: OpenSpan | undefined;
  quietly(() => {
    span = api.trace.getTracer('portcullis').startSpan(name, { attributes });
  });
  return (outcome, account) => quietly(() => span && end(span, outcome, account));
}

function end(span: OpenSpan, outcome: Outcome<unknown>, account: Account | null): void {
  if (account !== null) {
    span.setAttribute('portcullis.opens', account.opens);
    span.setAttribute('portcullis.entries', account.entries);
    span.setAttribute('portcullis.bytes_read', account.bytes);
  }
  if (!outcome.ok) {
    span.setAttribute('error.type', outcome.error.code);
    span.setStatus({ code: STATUS_ERROR, message: outcome.error.code });
  }
  span.end();
}

/** Telemetry that throws is the embedder's trouble and no reason to fail a call: this catch decides nothing. */
function quietly(step: () => void): void {
  try {
    step();
  } catch {
    // nothing to tell it to
  }
}
