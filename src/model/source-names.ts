/**
 * Names of the sources of secrets, as far as they may be repeated: somebody may have written the secret itself where the
 * name of its variable or file belongs (rule 42).
 */

/** In capitals; what is long has a "_" in it, which ids of keys in capitals have not. */
const plainVariable = /^(?![0-9])(?=[A-Z0-9_]{1,64}$)(?:.{1,19}$|.*_)/;

/** A part of a path that is long, and mixed as only what a machine made is. */
const mixed = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{12,}$|^(?=.*[a-zA-Z])(?=.*\d).{20,}$|^.{64,}$/;

/** The name in quotes, or that it is not shown: what stands behind "the environment variable". */
export function variableToShow(name: string): string {
  return plainVariable.test(name) ? `"${name}"` : hidden;
}

/** The same for a file that is not there. One that is there is a name, whatever it is called. */
export function missingFileToShow(name: string): string {
  const isWord = /^[a-z_-]{1,12}$/.test(name);
  const isPath = /[/.]/.test(name) && !name.split(/[/._-]/).some((part) => mixed.test(part));
  return isWord || isPath ? `"${name}"` : hidden;
}

const hidden = 'that is named there (not shown here: it may be the secret itself)';
