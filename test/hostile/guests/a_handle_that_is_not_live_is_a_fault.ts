/** Uses a handle that it does not hold: told `<operation> <handle>`. */
import {
  acts, answer, begins, dropDescriptor, dropStream, ends, list, openAt, preopen, readAt, readDirectory,
  readDirectoryEntry, RET, word, wordSize,
} from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

function handle(): i32 {
  const root = preopen();
  if (ends('zero')) return 0;
  if (ends('never given')) return root + 1;
  if (ends('minus one')) return -1;
  if (ends('2^31')) return i32.MIN_VALUE;
  if (ends('2^31-1')) return i32.MAX_VALUE;
  if (ends('of the other type')) return begins('entry') || begins('drop-stream') ? root : list(root);
  if (ends('dropped stream')) {
    const stream = list(root);
    dropStream(stream);
    return stream;
  }
  if (ends('dropped directory')) {
    dropDescriptor(root);
    return root;
  }
  return unreachable();
}

acts((): usize => {
  const bogus = handle();
  if (begins('open')) openAt(bogus, 0, word('lab'), wordSize, 2, 1, RET);
  else if (begins('read')) readAt(bogus, 1, 0, RET);
  else if (begins('list')) readDirectory(bogus, RET);
  else if (begins('entry')) readDirectoryEntry(bogus, RET);
  else if (begins('drop-stream')) dropStream(bogus);
  else if (begins('drop')) dropDescriptor(bogus);
  return answer();
});
