/**
 * What a service lacks of the workspaces API, as its answers show it: one sentence each, for the beginning of the report (rule 48).
 * Found out once, from answers that were read anyway, or by one cheap read before the first write.
 */
import { quoted } from '../../model/quoted.ts';

export const limits = {
  includedTags:
    'the service does not include tag bindings in its list of workspaces: they were read one workspace at a time, for declared and claimed workspaces only',
  tagFilter:
    'the service ignores the filter by tags: claims are seen only on workspaces that a manifest or the ledger names',
  tagBindings: 'the service has no tag bindings: it keeps neither tags nor claims',
  consumers: 'the service has no remote state consumers: who reads a state cannot be seen',
  safeDelete: 'the service has no safe delete',
  ownMode:
    'the service does not tell whether an execution mode is a workspace’s own: a mode that differs from the default of its project or organization counts as its own, and so does one that this stack set',
  fileTriggers:
    'the service derives "fileTriggersEnabled" from the lists of triggers: it is true where one is filled, and cannot be set',
} as const;

/** A declared field that no workspace is answered with. */
export function lackingField(name: string): string {
  return `the service does not have, or does not show, ${quoted(name)} of a workspace`;
}

const maxNames = 5;

/** Workspaces of which it is not known whether their execution mode is their own. */
export function unknownModes(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, maxNames).map(quoted);
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return `the service calls the execution mode of ${shown.join(', ')}${more} inherited, and the defaults of its project or organization could not be read: whether the mode is the workspace’s own is unknown`;
}
