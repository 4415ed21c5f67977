/**
 * What a service lacks of the workspaces API: one sentence each, for the beginning of the report. Detected once, from answers that
 * are read anyway, or by one cheap read before the first write.
 */
import { quoted } from '../../model/quoted.ts';

export const limits = {
  includedTags:
    'the service does not include tag bindings in its list of workspaces: they were read one workspace at a time, only for declared workspaces and those with an ownership tag',
  tagFilter:
    'the service ignores the filter by tags: ownership tags are seen only on workspaces that a manifest or the ledger names',
  tagBindings: 'the service has no tag bindings, so neither tags nor ownership tags',
  consumers: 'the service has no remote state consumers, so access to states is not visible',
  safeDelete: 'the service has no safe delete',
  ownMode:
    'the service does not show whether a workspace inherits its execution mode: a mode that differs from the default of its project or organization, or that this stack set, counts as its own',
  fileTriggers:
    'the service derives "fileTriggersEnabled" from the lists of triggers: it is true if one of them has entries, and cannot be set',
} as const;

/** A declared field that no workspace, or no project, has in answers. */
export function lackingField(name: string, of: 'workspace' | 'project' = 'workspace'): string {
  return `the service does not have, or does not show, ${quoted(name)} of a ${of}`;
}

const maxNames = 5;

/** Workspaces for which it is unknown whether they inherit their execution mode. */
export function unknownModes(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, maxNames).map(quoted);
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return `the service reports the execution mode of ${shown.join(', ')}${more} as inherited, but the defaults of its project or organization could not be read: whether it is inherited is unknown`;
}
