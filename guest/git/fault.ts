/**
 * Why git/ cannot go on, as one number that every function of it may give back. Stands under all of git/; index.ts tells
 * the host the WIT's number, which is one less.
 */

import { Code } from '../abi/lift';

export namespace Fault {
  export const NONE: i32 = 0;
  export const NO_REPOSITORY: i32 = 1;
  export const CORRUPT: i32 = 2;
  export const MISSING: i32 = 3;
  export const UNSUPPORTED: i32 = 4;
  export const TOO_LARGE: i32 = 5;
  export const DISK: i32 = 6;
  /** A budget of the call is spent, or the memory that may be used: no fault to the host, but an ending. */
  export const BUDGET: i32 = 7;
}

/** What a code of the host means for the repository. */
export function faultOf(code: i32): i32 {
  switch (code) {
    case Code.QUOTA:
    case Code.INSUFFICIENT_SPACE:
      return Fault.BUDGET;
    case Code.NO_ENTRY:
      return Fault.MISSING;
    case Code.FILE_TOO_LARGE:
      return Fault.TOO_LARGE;
    // a link, a device, a name that no address can hold
    case Code.LOOP:
    case Code.UNSUPPORTED:
    case Code.NOT_DIRECTORY:
    case Code.IS_DIRECTORY:
    case Code.NOT_PERMITTED:
    case Code.ILLEGAL_BYTE_SEQUENCE:
      return Fault.UNSUPPORTED;
    default:
      return Fault.DISK;
  }
}
