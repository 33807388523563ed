/*
 * What the kernel says: openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS, as the oracle of the laws about
 * resolving. Started as `openat2 ROOT`; stdin holds paths, each ended by a NUL; for each one line comes back, in order:
 *
 *   <device> <inode> <d|f|o>    what the path leads to, opened as a mere place (O_PATH), so that a FIFO does not block
 *   E<errno>                    the kernel's refusal
 *
 * Exit 3: the kernel has no openat2 (or a filter hides it). Exit 2: a bug of the harness.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long open_beneath(int root, const char *path) {
  struct open_how how;
  memset(&how, 0, sizeof how);
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return syscall(SYS_openat2, root, path, &how, sizeof how);
}

static void answer(int root, const char *path) {
  long fd = open_beneath(root, path);
  struct stat found;
  if (fd < 0) {
    printf("E%d\n", errno);
    return;
  }
  if (fstat((int)fd, &found) != 0) exit(2);
  close((int)fd);
  char kind = S_ISDIR(found.st_mode) ? 'd' : S_ISREG(found.st_mode) ? 'f' : 'o';
  printf("%llu %llu %c\n", (unsigned long long)found.st_dev, (unsigned long long)found.st_ino, kind);
}

int main(int count, char **words) {
  if (count != 2) return 2;
  int root = open(words[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return 2;
  long probe = open_beneath(root, ".");
  if (probe < 0) return 3;
  close((int)probe);
  char *path = NULL;
  size_t room = 0;
  while (getdelim(&path, &room, '\0', stdin) > 0) answer(root, path);
  free(path);
  return 0;
}
