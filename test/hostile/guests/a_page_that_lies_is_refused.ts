/** Answers a search with the lie it is told: paths, texts, counts, lists and cases that cannot be. */
import {
  acts, addHit, addUnread, alloc, asked, begins, BUDGET, CAUSES, COMPLETE, continues, dropStream, HITS, list, MATCHES,
  memorySize, page, PAGE, PAUSED, preopen, TEXT_CAP, told, toldSize, UNREAD,
} from '../prelude';
export {
  cabi_realloc, further, history, keepsTheImports, more, next, older, read, search, trail,
} from '../prelude';

/** Where the path behind the colon begins: a path, byte for byte. */
function pathTold(): usize {
  for (let i: usize = 0; i < toldSize; i++) if (load<u8>(told + i) === 0x3a) return i + 1;
  return unreachable();
}

function count(at: usize, value: u32): usize {
  const done = page(1, COMPLETE);
  store<u32>(PAGE + at, value);
  return done;
}

acts((): usize => {
  dropStream(list(preopen()));
  if (begins('hit in:') || begins('unread:') || begins('odd unread:')) {
    const from = pathTold();
    if (begins('hit')) addHit('', 0, told, 1);
    else addUnread('', begins('odd') ? 9 : 13);
    const at = begins('hit') ? HITS : UNREAD;
    store<usize>(at, told + from);
    store<usize>(at, toldSize - from, 4);
    return page(1, COMPLETE);
  }
  addHit('lab/notes.md', 0, told, 1);
  if (asked('a path that is not UTF-8')) store<u8>(load<usize>(HITS), 0xff);
  if (asked('a path of 64 KiB and a byte')) store<u32>(HITS, 65_537, 4);
  if (asked('a path past memory')) store<usize>(HITS, memorySize());
  if (asked('a path of 4 GiB')) store<u32>(HITS, 0xffff_ffff, 4);
  if (asked('a text that is not UTF-8')) {
    const text = alloc(1, 1);
    store<u8>(text, 0xff);
    store<usize>(HITS, text, 12);
  }
  if (asked('a text of 1 GiB')) store<u32>(HITS, 1 << 30, 16);
  if (asked('a text of 4 GiB')) store<u32>(HITS, 0xffff_ffff, 16);
  if (asked('a text past memory')) store<usize>(HITS, memorySize(), 12);
  if (asked('a text over its cap')) {
    const text = alloc(65_601, 1);
    memory.fill(text, 0x61, 65_601);
    store<usize>(HITS, text, 12);
    store<u32>(HITS, 65_601, 16);
  }
  if (asked('texts that together pass their cap')) {
    const text = alloc(40_000, 1);
    memory.fill(text, 0x61, 40_000);
    store<usize>(HITS, text, 12);
    store<u32>(HITS, 40_000, 16);
    addHit('lab/notes.md', 1, text, 40_000);
  }
  if (asked('a line that no file has')) store<u32>(HITS, 1_048_577, 8);
  if (asked('65 hits')) for (let i = 0; i < 64; i++) addHit('lab/notes.md', 0, told, 1);
  if (asked('17 unread')) for (let i = 0; i < 17; i++) addUnread('lab/x', 13);
  if (asked('a budget that is not spent')) return page(1, BUDGET);
  if (asked('more hits than one, of one')) return page(1, MATCHES);
  if (asked('a text cap that no text reached')) {
    page(1, TEXT_CAP);
    store<u32>(PAGE, 0, 4);
    return PAGE;
  }
  if (asked('no ending')) return page(1, 5);
  if (asked('ending 255')) return page(1, 255);
  if (asked('an unread of no cause')) {
    addUnread('lab/x', 36);
    const at = page(1, COMPLETE);
    store<u8>(UNREAD, 37, 8);
    return at;
  }
  if (asked('more not text than looked')) return count(32, 2);
  if (asked('36 causes')) return count(40, 36);
  if (asked('38 causes')) return count(40, 38);
  if (asked('no causes')) return count(40, 0);
  if (asked('2^32-1 causes')) return count(40, 0xffff_ffff);
  if (asked('causes past memory')) return count(36, <u32>memorySize() - 144);
  if (asked('causes unaligned')) return count(36, <u32>CAUSES + 2);
  if (asked('2^32-1 hits')) return count(4, 0xffff_ffff);
  if (asked('hits past memory')) return count(0, <u32>memorySize() - 16);
  if (asked('hits at 2^31')) return count(0, 0x8000_0000);
  if (asked('hits unaligned')) return count(0, <u32>HITS + 1);
  if (asked('2^32-1 unread')) return count(12, 0xffff_ffff);
  if (asked('unread past memory')) {
    addUnread('lab/x', 13);
    return count(8, <u32>memorySize());
  }
  if (asked('a hit in nothing looked at')) return count(16, 0);
  if (asked('more looked at than opened')) return count(16, 1_000);
  if (asked('more directories than opened')) return count(20, 1_000);
  if (asked('more names than listed')) return count(28, 1_000);
  if (asked('an unread that is not counted')) {
    addUnread('lab/x', 13);
    const at = page(1, COMPLETE);
    memory.fill(CAUSES, 0, 148);
    return at;
  }
  if (asked('an unread counted under another cause')) {
    addUnread('lab/x', 13);
    const at = page(1, COMPLETE);
    memory.fill(CAUSES, 0, 148);
    store<u32>(CAUSES, 1);
    return at;
  }
  if (asked('a count that is not listed')) {
    store<u32>(CAUSES, 1, 52);
    return page(1, COMPLETE);
  }
  if (asked('a page past memory')) return memorySize() - 40;
  if (asked('a page at 2^31')) return 0x8000_0000;
  if (asked('a page at 2^32-4')) return 0xffff_fffc;
  if (asked('a page unaligned')) return page(1, COMPLETE) + 1;
  if (asked('counts that fall') || asked('65 hits in two pages') || asked('17 unread in two pages')) {
    return page(1, PAUSED);
  }
  return page(1, COMPLETE);
});

continues((): usize => {
  if (asked('counts that fall')) return page(0, COMPLETE);
  if (asked('65 hits in two pages')) for (let i = 0; i < 64; i++) addHit('lab/notes.md', 0, told, 1);
  if (asked('17 unread in two pages')) for (let i = 0; i < 17; i++) addUnread('lab/x', 13);
  return page(1, COMPLETE);
});
