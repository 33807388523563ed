/** What the block store says, in words: each of its faults, once, for every tool and door. */

import {
  type Asked,
  type AxError,
  casCorrupt,
  configInvalid,
  gateDenied,
  invalidArgs,
  limitReached,
  pathNotFound,
  storageFatal,
} from '../error.js';
import { failureError } from '../judge/locate.js';
import { BLOCK_MAX_BYTES, ORIGINS_MAX_BYTES, PUT_ATTEMPTS_MAX } from '../limits.js';
import type { Call } from '../runner/call.js';
import type { StoreFault } from '../store/blocks.js';
import { spentError } from './locating.js';
import { sizeInWords } from './unread.js';

/** The refusal of what was asked of the store. Never says where a link leads. */
export function storeError(call: Call, at: Asked, fault: StoreFault): AxError {
  switch (fault) {
    case 'no-entry':
      return pathNotFound(at, 'the block is gone', 'an origin of it is recorded: have what it came from stored again');
    case 'is-link':
      return gateDenied(
        at,
        'a link stands in the block store',
        'a person has to take it away: no link is followed in the block store’s own directories',
      );
    case 'corrupt':
      return casCorrupt(at);
    case 'past-end':
      return invalidArgs(
        at,
        'its range ends behind the block',
        'name a range inside it, or drop the range and pass offset and limit',
      );
    case 'too-large':
      return limitReached(
        at,
        `it is larger than ${sizeInWords(BLOCK_MAX_BYTES)} (BLOCK_MAX_BYTES)`,
        'store it in parts; read one that is there by interval, with `read`',
      );
    case 'too-many-origins':
      return limitReached(
        at,
        `the block has more than ${sizeInWords(ORIGINS_MAX_BYTES)} of origins (ORIGINS_MAX_BYTES)`,
        'a person has to take old ones out of the block store',
      );
    case 'taken-away':
      return storageFatal(
        at,
        `what was being written was taken away ${PUT_ATTEMPTS_MAX} times`,
        'ask again once nothing else changes the block store',
        'unknown',
      );
    case 'no-space':
      return storageFatal(at, 'the disk is full', 'a person has to make room on it');
    case 'read-only':
      return configInvalid(
        at,
        'this city’s block store is not written to',
        'store blocks in a city on a disk that may be written; a city in memory is given its blocks as files',
      );
    case 'spent':
      return spentError(at, call);
    case 'taken':
    case 'is-directory':
    case 'not-directory':
    case 'not-regular':
      return storageFatal(
        at,
        'something else stands where the block store keeps it',
        'a person has to look at the block store: what stands there is not what the store wrote',
      );
    default:
      return failureError(at, fault);
  }
}
