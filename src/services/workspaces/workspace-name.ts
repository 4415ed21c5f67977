/** What a workspace may be called (wire/workspaces 5.4), for every kind whose documents name one. */
import type { NameRule } from '../../model/kind/kind.ts';

const says = 'at most 90 letters, digits, "-" and "_"';

/** The service of today takes up to 260 characters; no more than 90 is what every version of it takes. */
export const workspaceNames: NameRule = { pattern: /^[A-Za-z0-9_-]{1,90}$/, says };

/** Of what is named after its workspace. */
export const namesOfWorkspaces: NameRule = { ...workspaceNames, says: `the name of a workspace: ${says}` };
