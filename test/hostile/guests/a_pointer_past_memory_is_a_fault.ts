/** Hands a pointer that is not all in memory, or not aligned, to the operation it is told. */
import {
  acts, answer, begins, ends, getDirectories, list, memorySize, openAt, openWord, preopen, readAt, readDirectory,
  readDirectoryEntry, RET, word, wordSize,
} from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

function pointer(): usize {
  if (ends('past the end')) return memorySize() + 8;
  if (ends('at the last bytes')) return memorySize() - 4;
  if (ends('at the end')) return memorySize();
  if (ends('2^31')) return 0x8000_0000;
  if (ends('2^32-4')) return 0xffff_fffc;
  if (ends('unaligned')) return RET + 2;
  return unreachable();
}

acts((): usize => {
  const root = preopen();
  const stream = list(root);
  const file = openWord(root, 'lab/notes.md', false);
  const name = word('lab');
  const size = wordSize;
  const ret = pointer();
  if (begins('preopens')) getDirectories(ret);
  else if (begins('open')) openAt(root, 0, name, size, 2, 1, ret);
  else if (begins('name')) openAt(root, 0, ret, 8, 2, 1, RET);
  else if (begins('wrap')) openAt(root, 0, ret, 0x8000, 2, 1, RET);
  else if (begins('read')) readAt(file, 1, 0, ret);
  else if (begins('list')) readDirectory(root, ret);
  else if (begins('entry')) readDirectoryEntry(stream, ret);
  return answer();
});
