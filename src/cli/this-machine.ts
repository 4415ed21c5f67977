/** Describes the machine that this process runs on, with data from the operating system. */
import { readFileSync, statSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import type { Machine } from './cli-host.ts';

export function thisMachine(): Machine {
  return {
    hostname: hostname(),
    pid: process.pid,
    userName: userName(),
    userId: process.geteuid?.(),
    pidNamespace: pidNamespace(),
    mayBeContainer: process.platform === 'linux',
    isGone,
  };
}

/** A container may run as a user without a name. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/**
 * Containers may have the same host name and the same process numbers. A boot id is unique among running systems, and an inode is
 * unique among the namespaces of one system at a time.
 */
function pidNamespace(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${statSync('/proc/self/ns/pid').ino}`;
  } catch {
    return undefined;
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
