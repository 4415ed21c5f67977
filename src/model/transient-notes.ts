/**
 * Notes that depend on the run and the time of a plan: what its token may do and read, secrets that its environment lacks, and locks
 * of others. The plan that apply makes may have different notes.
 */

/** @param reasons depend on the rights of the token and on the state at that moment */
export function refusalNote(reasons: string): string {
  return `${refusal}${reasons}`;
}

/** @param why the environment does not have a secret, as a clause */
export function missingSecretNote(why: string): string {
  return `${why}${missingSecret}`;
}

/** @param why the token did not see everything, as a clause */
export function unseenNote(why: string): string {
  return `${unseen}${why}`;
}

/** @param lock the holder of the lock, as a clause: others may take or release it at any time */
export function otherLockNote(lock: string): string {
  return `${lock}${otherLock}`;
}

const refusal = 'the service will refuse this: ';
const missingSecret = ' here: apply will need it';
const unseen = 'it may already exist, because not everything was read: ';
const otherLock = ': the lock is left alone';

/** Recognizes a note that depends on the run by its text, because a plan file has only the text. */
export function isTransientNote(note: string): boolean {
  return (
    [refusal, unseen].some((begin) => note.startsWith(begin)) ||
    [missingSecret, otherLock].some((end) => note.endsWith(end))
  );
}
