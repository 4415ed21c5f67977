/** The commit that this program was built from. The build replaces this file (`scripts/bundle-plugins.ts`). */

/** Absent when the program runs from its sources, or was built outside of a repository. */
export const builtFrom: string | undefined = undefined;
