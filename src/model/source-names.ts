/**
 * Decides which names of secret sources may be shown: a user may have written the secret itself where the name of its
 * variable or file belongs (rule 42).
 */
import { quoted } from './quoted.ts';

/** In capitals; a long one must contain "_", because key ids in capitals contain none. */
const plainVariable = /^(?![0-9])(?=[A-Z0-9_]{1,64}$)(?:.{1,19}$|.*_)/;

/** A part of a path that is long and mixes characters as generated secrets do. */
const generatedLooking = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{12,}$|^(?=.*[a-zA-Z])(?=.*\d).{20,}$|^.{64,}$/;

/** The name in quotes, or a clause that it is not shown; follows "the environment variable" in messages. */
export function variableToShow(name: string): string {
  return plainVariable.test(name) ? quoted(name) : hidden;
}

/** The same for a file that does not exist. The name of an existing file is always safe to show. */
export function missingFileToShow(name: string): string {
  const isWord = /^[a-z_-]{1,12}$/.test(name);
  const isPath = /[/.]/.test(name) && !name.split(/[/._-]/).some((part) => generatedLooking.test(part));
  return isWord || isPath ? quoted(name) : hidden;
}

const hidden = 'that is named there (not shown here: it may be the secret itself)';
