/** The rule for names of workspaces (wire/workspaces 5.4), for all kinds whose documents name one. */
import type { NameRule } from '../../model/kind/kind.ts';

const description = 'at most 90 letters, digits, "-" and "_"';

/** Current versions of the service accept up to 260 characters; all versions accept 90. */
export const workspaceNames: NameRule = { pattern: /^[A-Za-z0-9_-]{1,90}$/, description };

/** For kinds that are named after their workspace. */
export const namesOfWorkspaces: NameRule = {
  ...workspaceNames,
  description: `the name of a workspace: ${description}`,
};
