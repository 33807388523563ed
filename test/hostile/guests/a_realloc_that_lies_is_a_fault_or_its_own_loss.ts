/** Asks for what makes the host allocate in it, and answers the allocation with the lie it is told. */
import {
  acts, alloc, answer, begins, dropDescriptor, dropStream, ends, getDirectories, honestRealloc, list, memorySize,
  openAt, openWord, preopen, readAt, readDirectory, readDirectoryEntry, reallocs, RET, sayBytes, sayResult, told,
} from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

let lies = false;
let root: i32 = 0;
let stream: i32 = 0;
let file: i32 = 0;

function deep(n: i32): i32 {
  return n === i32.MAX_VALUE ? 0 : deep(n + 1) + n;
}

reallocs((old: usize, oldSize: usize, align: usize, size: usize): usize => {
  if (!lies) return honestRealloc(old, oldSize, align, size);
  if (ends('traps')) return unreachable();
  if (ends('gives 0')) return 0;
  if (ends('gives an odd address')) return honestRealloc(old, oldSize, align, size + 1) | 1;
  if (ends('gives the end of memory')) return memorySize();
  if (ends('gives an address past memory')) return memorySize() + 64;
  if (ends('gives 2^31')) return 0x8000_0000;
  if (ends('gives 2^32-4')) return 0xffff_fffc;
  if (ends('gives the place of the result')) return RET;
  if (ends('grows memory')) {
    memory.grow(1);
    return honestRealloc(old, oldSize, align, size);
  }
  if (ends('grows by nothing')) {
    memory.grow(0);
    return honestRealloc(old, oldSize, align, size);
  }
  if (ends('shrinks elsewhere')) return old !== 0 ? alloc(size, align) : honestRealloc(old, oldSize, align, size);
  if (ends('recurses for ever')) return <usize>deep(0);
  if (ends('never returns')) while (true) {}
  if (ends('asks for preopens')) getDirectories(RET);
  if (ends('opens')) openAt(root, 0, told, 1, 0, 1, RET);
  if (ends('reads')) readAt(file, 1, 0, RET);
  if (ends('lists')) readDirectory(root, RET);
  if (ends('takes an entry')) readDirectoryEntry(stream, RET);
  if (ends('drops the file')) dropDescriptor(file);
  if (ends('drops the stream')) dropStream(stream);
  return unreachable();
});

acts((): usize => {
  root = preopen();
  file = openWord(root, 'lab/notes.md', false);
  stream = list(root);
  lies = true;
  if (begins('preopens')) {
    getDirectories(RET);
    sayResult(load<u32>(RET, 4) === 1 ? 0 : -1);
  } else if (begins('entry')) {
    readDirectoryEntry(stream, RET);
    sayBytes(load<usize>(RET, 12), load<usize>(RET, 16));
  } else {
    readAt(file, 64, 0, RET);
    if (load<u8>(RET) === 0) sayBytes(load<usize>(RET, 4), load<usize>(RET, 8));
    else sayResult(~(<i32>load<u8>(RET, 4)));
  }
  lies = false;
  return answer();
});
