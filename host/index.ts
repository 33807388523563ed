/** Portcullis: file tools for agents whose reads cannot leave the bound they were given. The public API, few names. */

export type { FileSinkOptions, ReceiptFile } from './audit/file.js';
export { openReceiptFile, readReceiptKey, verifyFiles } from './audit/file.js';
export type { KeptSink, Sink, Standing } from './audit/log.js';
export type { ReceiptOptions } from './audit/receipts.js';
export { ReceiptError } from './audit/record.js';
export type { OpenTelemetry } from './audit/spans.js';
export type { Verified, VerifyOptions } from './audit/verify.js';
export { verifyLog } from './audit/verify.js';
export type {
  ArgsOf,
  CallOptions,
  City,
  CityBlocks,
  CityOptions,
  HistoryOptions,
  Progress,
  PutOptions,
  Runner,
  RunnerOptions,
  ToolTypes,
  ValueOf,
} from './door/api.js';
export type { Catalog, Pin } from './door/catalog.js';
export { openRunner } from './door/node.js';
export type { AxCode, AxError, Outcome, Retry } from './error.js';
export type { Verdict } from './judge/bound.js';
export type { CatalogEntry, Diagnostic, Expansion } from './judge/catalog.js';
export type { Budgets } from './runner/budget.js';
export type { Policy } from './runner/policy.js';
export type { ReadArgs, ReadValue } from './tools/read.js';
export { TOOLS } from './tools/registry.js';
export type { SearchArgs, SearchValue } from './tools/search.js';
export type { SearchHistoryArgs, SearchHistoryValue } from './tools/search-history.js';
export { jsonSchema } from './tools/tool.js';
export type { MemoryCity } from './tree/memory.js';
export { memoryCity } from './tree/memory.js';
export type { HardLinks } from './tree/tree.js';
