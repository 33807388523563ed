/**
 * Everything this component imports, and so everything it can do: list, open and read below the directories it was
 * handed. Stands at the edge of the guest; only abi/lift.ts calls it. A function that is never called does not become
 * an import, and guest/build.mjs refuses a component whose import list is any other than this.
 *
 * Lowered by the canonical ABI: strings are address and bytes, `ret` is where the host writes the result.
 */

// @ts-ignore: decorator
@external("wasi:filesystem/preopens@0.2.12", "get-directories")
export declare function getDirectories(ret: usize): void;

// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[method]descriptor.open-at")
export declare function openAt(
  self: i32, pathFlags: i32, path: usize, pathSize: usize, openFlags: i32, flags: i32, ret: usize,
): void;

// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[method]descriptor.read")
export declare function read(self: i32, length: u64, offset: u64, ret: usize): void;

// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[method]descriptor.read-directory")
export declare function readDirectory(self: i32, ret: usize): void;

// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[method]directory-entry-stream.read-directory-entry")
export declare function readDirectoryEntry(self: i32, ret: usize): void;

// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[resource-drop]descriptor")
export declare function dropDescriptor(self: i32): void;

// @ts-ignore: decorator
@external("wasi:filesystem/types@0.2.12", "[resource-drop]directory-entry-stream")
export declare function dropStream(self: i32): void;
