/**
 * Everything this component imports, and so everything it can do: list, open and read below the directories it was
 * handed. Stands at the edge of the guest; only abi/lift.ts calls it. A function that is never called does not become
 * an import, and guest/build.mjs refuses a component whose import list is any other than this.
 *
 * Lowered by the canonical ABI: strings are address and bytes, `ret` is where the host writes the result.
 */

/** The directories this call was handed, each with its name: the host hands over one. */
// @ts-ignore: decorator
@external("wasi:filesystem/preopens@0.2.12", "get-directories")
export declare function getDirectories(ret: usize): void;

/** Opens a path below a directory, never above it: a handle, or a code. `flags` other than reading are refused. */
// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[method]descriptor.open-at")
export declare function openAt(
  self: i32, pathFlags: i32, path: usize, pathSize: usize, openFlags: i32, flags: i32, ret: usize,
): void;

/** Up to `length` bytes of a file from `offset`, and whether they were its last. The host may give fewer. */
// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[method]descriptor.read")
export declare function read(self: i32, length: u64, offset: u64, ret: usize): void;

/** A stream of the names of a directory, in no order. */
// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[method]descriptor.read-directory")
export declare function readDirectory(self: i32, ret: usize): void;

/** The next name of a stream and what it is, or none after the last. */
// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[method]directory-entry-stream.read-directory-entry")
export declare function readDirectoryEntry(self: i32, ret: usize): void;

/** Gives a file or directory back. */
// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[resource-drop]descriptor")
export declare function dropDescriptor(self: i32): void;

/** Gives a stream back. */
// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[resource-drop]directory-entry-stream")
export declare function dropStream(self: i32): void;
